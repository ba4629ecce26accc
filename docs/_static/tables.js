// Let tables fit the page.
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
    const heads = table.querySelectorAll("thead tr:last-child th");
    if (heads.length > 6) table.classList.add("many-columns");
    if (heads.length > 0 && heads.length < 4) table.classList.add("few-columns");
  }
});
