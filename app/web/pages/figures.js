// The page of the figures that the user may see.

import { collectionsCard } from "../figures/collection_list.js";
import { figureList } from "../figures/figure_list.js";
import { empty } from "../ui/dom.js";

export async function figures(/** @type {any} */ me) {
  const none =
    me.role === "viewer"
      ? empty("No figures yet", "The owner of a dataset can let you see its figures: tell them your name here.")
      : empty(
          "No figures yet",
          "A figure is a published answer under a name, which others read at no cost. Each release and each derived answer can be published.",
        );
  const [collections, figures] = await Promise.all([collectionsCard(me), figureList("/figures", none)]);
  return { lead: "Published answers. Reading them costs nothing.", content: [collections, figures] };
}
