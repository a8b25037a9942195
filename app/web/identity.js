// Who is signed in. Viewers may read figures and nothing else, so a tab first asks who reads figures.

import { get } from "./api.js";
import { key } from "./session.js";

const MORE = "snapledger.more";

/** @type {string | null} */
let known = null; // who of this page may ask for more than figures

const current = () => key.get() ?? "an account";

function remember() {
  known = current();
  if (key.get() !== null) sessionStorage.setItem(MORE, "true"); // with an account, the tab keeps nothing
}

/** Return the principal that is signed in, with its role and, unless it is a viewer, its allowances. */
export async function whoAmI() {
  if (known !== current() && sessionStorage.getItem(MORE) === null) {
    const reader = await get("/figures/reader");
    if (reader.role === "viewer") return reader;
    remember();
  }
  try {
    return await get("/me");
  } catch (error) {
    if (error.status !== 403) throw error;
    known = null; // somebody else has signed in meanwhile, who is a viewer
    sessionStorage.removeItem(MORE);
    return whoAmI();
  }
}
