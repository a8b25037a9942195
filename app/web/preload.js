// Asks for all modules of the page that is opened at once. Without it, a browser finds each only in the one before.

(() => {
  /** @type {{ files?: string[], pages?: Record<string, number[]> }} */
  const MODULES = {}; // filled in by the service, from what each page imports
  const OF_DATASET = /** @type {Record<string, string>} */ ({
    "": "overview",
    plan: "planner",
    figures: "dataset_figures",
  });
  const { src } = /** @type {HTMLScriptElement} */ (document.currentScript);

  /** Return the name of the page of an address, as its file in `pages/` is called. */
  function pageOf(/** @type {string} */ hash) {
    const [section = "datasets", dataset, part = ""] = hash
      .slice(2)
      .split("/")
      .filter((each, at) => each || at > 1);
    if (section === "figures" && dataset) return "figure";
    if (section === "collections") return "collection";
    return section === "datasets" && dataset ? (OF_DATASET[part] ?? part) : section;
  }
  function preload() {
    for (const at of MODULES.pages?.[pageOf(location.hash)] ?? []) {
      const link = document.createElement("link");
      link.rel = "modulepreload";
      link.href = new URL(/** @type {string[]} */ (MODULES.files)[at], src).href;
      document.head.append(link);
    }
  }
  if (sessionStorage.getItem("snapledger.key") !== null) preload();
  addEventListener("hashchange", preload); // what was asked for already is not asked for again
})();
