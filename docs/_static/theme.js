// Runs before the page is drawn, so that a reader in the dark sees no flash of light.
document.body.dataset.theme = localStorage.getItem("theme") || "auto";
