// Draws charts with plotly, in the colours of the page. Pass every name through `plain`: plotly reads labels as HTML.

import { h } from "../ui/dom.js";

const MAX_FRAMES = 600;

let loading = null;

/** Return plotly; the first call loads its bundle. */
function plotly() {
  loading ??= new Promise((resolve, reject) => {
    document.head.append(h("script", {
      src: "/web/plotly.min.js", load: () => resolve(window.Plotly),
      error: () => { loading = null; reject(new Error("The charts could not be loaded; the tables show all figures.")); },
    }));
  });
  return loading;
}

const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const still = window.matchMedia("(prefers-reduced-motion: reduce)");
const drawn = new Map();

const CONFIG = { displayModeBar: false, responsive: true, displaylogo: false, plotlyServerURL: "" };

/** Return the page's current colours for the parts of a chart. */
export const palette = () => ({
  text: color("text"), grid: color("line"), accent: color("accent"), danger: color("danger"), muted: color("muted"),
  series: [1, 2, 3, 4, 5, 6].map((n) => color(`series-${n}`)),
});

function framed(layout) {
  const { text, grid } = palette();
  const axis = { gridcolor: grid, linecolor: grid, zerolinecolor: grid, automargin: true, fixedrange: true };
  return {
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { color: text, size: 13 },
    margin: { l: 60, r: 16, t: 12, b: 48 }, height: 320, dragmode: false, hoverlabel: { namelength: -1 },
    legend: { orientation: "h", y: 1.02, yanchor: "bottom" }, showlegend: false, ...layout,
    xaxis: { ...axis, ...layout.xaxis }, yaxis: { ...axis, ...layout.yaxis },
    ...(still.matches && { transition: { duration: 0 } }),
  };
}

/** Return an empty chart. A screen reader reads its `summary`; show the figures in a table too. */
export function chart(summary) {
  return h("div", { class: "chart", role: "img", "aria-label": summary });
}

/** Wait until the element is in the page: charts are created before, and have no width until then. */
async function attached(element) {
  for (let frame = 0; frame < MAX_FRAMES && !element.isConnected; frame += 1) await new Promise(requestAnimationFrame);
}

/** Draw into a chart; `make` returns `{data, layout}`, and is called again when the page changes to light or dark. */
export async function draw(element, make) {
  drawn.set(element, make);
  try {
    const library = await plotly();
    await attached(element);
    if (drawn.get(element) !== make || !element.isConnected) return; // replaced by a newer drawing, or removed
    const { data, layout } = make();
    await library.react(element, data, framed(layout), CONFIG);
  } catch (error) {
    element.textContent = error.message;
  }
}

dark.addEventListener("change", () => {
  for (const [element, make] of drawn) {
    if (element.isConnected) draw(element, make);
    else drawn.delete(element);
  }
});

/** Free the charts of a page that is no longer shown. */
export function forgetCharts(page) {
  for (const element of drawn.keys()) {
    if (!page.contains(element)) continue;
    window.Plotly?.purge(element);
    drawn.delete(element);
  }
}
