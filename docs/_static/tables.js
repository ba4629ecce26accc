// Prepare tables for narrow screens: each cell knows the head of its column.
document.addEventListener("DOMContentLoaded", () => {
  for (const table of document.querySelectorAll(".bd-article table.table")) {
    const heads = [...table.querySelectorAll("thead tr:last-child th")].map((head) =>
      head.textContent.trim(),
    );
    if (heads.length > 6) table.classList.add("many-columns");
    if (heads.length < 3) continue;
    table.classList.add("as-cards");
    for (const row of table.querySelectorAll("tbody tr")) {
      [...row.children].forEach((cell, column) => {
        if (heads[column] && cell.textContent.trim()) cell.dataset.head = heads[column];
      });
    }
  }
});
