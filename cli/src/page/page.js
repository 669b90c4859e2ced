// Conveniences only: a box with the text about a marker, by pointer or by touch, and tables that sort on a click.
(() => {
  "use strict";
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  document.body.append(tip);
  for (const title of document.querySelectorAll("figure title")) {
    title.parentNode.dataset.tip = title.textContent;
    title.remove();
  }
  for (const cell of document.querySelectorAll(".heat [title]")) {
    cell.dataset.tip = cell.title;
    cell.removeAttribute("title");
  }
  const show = event => {
    const mark = event.target.closest ? event.target.closest("[data-tip]") : null;
    tip.hidden = !mark;
    if (!mark) return;
    tip.textContent = mark.dataset.tip;
    const box = tip.getBoundingClientRect();
    const left = Math.min(event.clientX + 14, innerWidth - box.width - 8);
    const above = event.clientY - box.height - 12;
    tip.style.left = Math.max(8, left) + "px";
    tip.style.top = (above > 8 ? above : event.clientY + 18) + "px";
  };
  document.addEventListener("pointermove", show);
  document.addEventListener("pointerdown", show);
  document.addEventListener("scroll", () => { tip.hidden = true; }, { passive: true, capture: true });

  for (const table of document.querySelectorAll("table:not(.heat)")) {
    const body = table.tBodies[0];
    const heads = [...table.tHead.rows[0].cells];
    const first = [...body.rows];
    heads.forEach((head, column) => {
      head.dataset.sort = "";
      head.title = "Sort by this column";
      head.tabIndex = 0;
      head.addEventListener("keydown", event => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        head.click();
      });
      head.addEventListener("click", () => {
        const was = head.getAttribute("aria-sort");
        heads.forEach(other => other.removeAttribute("aria-sort"));
        if (was === "descending") return body.append(...first);
        const sign = was ? -1 : 1;
        head.setAttribute("aria-sort", was ? "descending" : "ascending");
        const numbers = first.some(row => row.cells[column].dataset.v);
        // Rows without a figure stay at the end, in either order.
        const value = row => Number(row.cells[column].dataset.v || NaN);
        const compare = (a, b) => {
          if (!numbers) return sign * a.cells[column].textContent.localeCompare(b.cells[column].textContent, "en", { numeric: true });
          const [x, y] = [value(a), value(b)];
          return isNaN(x) || isNaN(y) ? isNaN(x) - isNaN(y) : sign * (x - y);
        };
        body.append(...[...first].sort(compare));
      });
    });
  }
})();
