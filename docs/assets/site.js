// What the theme makes when a page is shown: parts that scroll are reached by keys, bars of buttons have names.
window.addEventListener("load", () => {
  for (const wrap of document.querySelectorAll(".md-typeset__scrollwrap")) wrap.tabIndex = 0;
  document.querySelectorAll(".md-code__nav").forEach((bar, index) => bar.setAttribute("aria-label", `Program ${index + 1}`));
});
