// The result as files: .npz and .csv as the command writes them, and the drawing as .svg.

import { svg } from "./drawing.js";

const TYPES = { npz: "application/zip", csv: "text/csv", svg: "image/svg+xml" };

export class Downloads {
  #links;
  #picture;

  /** `links` has the elements of the three links. */
  constructor(links) {
    this.#links = links;
    // A drawing is written out only when it is asked for: it may have a hundred thousand edges.
    links.svg.addEventListener("click", event => {
      if (!this.#picture) return event.preventDefault();
      this.#offer("svg", svg(this.#picture.layout, this.#picture.title));
    });
  }

  /** Offers the files of a result. `name` is the name of the graph's file, or of the sample. */
  files({ npz, csv }, name) {
    const stem = name.replace(/(\.(gz|zst|zip|tar|txt|csv|tsv|mtx|npz|npy|json|graphml|gexf|gml|g6|s6|d6|net|col|gr|graph|adjlist|cyjs|safetensors))+$/i, "");
    // A file is not offered under the name of the one that was read.
    const taken = Object.keys(TYPES).some(kind => name.toLowerCase() === `${stem}.${kind}`.toLowerCase());
    const own = taken ? `${stem}-encoding` : stem || "graph";
    for (const kind of Object.keys(TYPES)) this.#links[kind].download = `${own}.${kind}`;
    this.#offer("npz", npz);
    this.#offer("csv", csv);
  }

  /** Offers a drawing; null where nothing is drawn. */
  drawing(layout, title) {
    this.#picture = layout && { layout, title };
    this.#links.svg.parentElement.hidden = !layout;
    this.#links.svg.href = "#";
  }

  #offer(kind, content) {
    const link = this.#links[kind];
    if (link.href.startsWith("blob:")) URL.revokeObjectURL(link.href);
    link.href = URL.createObjectURL(new Blob([content], { type: TYPES[kind] }));
  }
}
