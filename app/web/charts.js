// Charts by plotly, in the colours of the page. Every name goes through `plain`, since plotly reads labels as HTML.

import { h } from "./dom.js";

const MOST_FRAMES = 600;

let loading = null;

/** Plotly's bundle, fetched when the first chart is drawn. */
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

/** The page's colours for a chart's parts. */
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

/** A figure that a screen reader meets as its `summary`; the figures themselves stand in a table beside it. */
export function chart(summary) {
  return h("div", { class: "chart", role: "img", "aria-label": summary });
}

/** Charts are begun while their page is still being made: wait until it is shown, since only then it has a width. */
async function attached(element) {
  for (let frame = 0; frame < MOST_FRAMES && !element.isConnected; frame += 1) await new Promise(requestAnimationFrame);
}

/** Draw into a chart of the page; `make` gives `{data, layout}` and is asked again when light and dark change. */
export async function draw(element, make) {
  drawn.set(element, make);
  try {
    const library = await plotly();
    await attached(element);
    if (drawn.get(element) !== make || !element.isConnected) return; // something newer is to be drawn, or nothing
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

/** Let go of the charts within a page that is left. */
export function forgetCharts(page) {
  for (const element of drawn.keys()) {
    if (!page.contains(element)) continue;
    window.Plotly?.purge(element);
    drawn.delete(element);
  }
}
