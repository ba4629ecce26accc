// Prepare tables for narrow screens.
document.addEventListener("DOMContentLoaded", () => {
  for (const table of document.querySelectorAll(".bd-article table")) {
    // Names may break after an underscore or a dot and before a capital.
    for (const name of table.querySelectorAll("code .pre")) {
      const parts = name.textContent.split(/(?<=[_.=])|(?<=[a-z])(?=[A-Z])/);
      name.replaceChildren(
        ...parts.flatMap((part, i) =>
          i ? [document.createElement("wbr"), part] : [part],
        ),
      );
    }
    // Each cell knows the head of its column.
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
