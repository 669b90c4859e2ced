// The form: what is wanted, and how a file gets in.

import { isSample } from "./link.js";
import { of } from "./state.js";
import { NO_FILE, SAMPLES, SEVERAL_FILES } from "./words.js";

export class Controls {
  #wanted;
  #file = null;

  /** `changed()` is called when something else is wanted; `said(words)` with what is to be said about a drop. */
  constructor(wanted, changed, said) {
    this.#wanted = wanted;
    const pick = file => {
      this.#file = file;
      this.#wanted = { ...this.#wanted, sample: null, graph: 1 };
      this.show();
      changed();
    };
    of("samples").addEventListener("click", event => {
      const name = event.target.closest("button")?.dataset.sample;
      if (!name) return;
      this.#file = null;
      this.#wanted = { ...this.#wanted, sample: name, graph: 1 };
      this.show();
      changed();
    });
    of("file").addEventListener("change", event => {
      const file = event.target.files[0];
      if (file) pick(file);
      event.target.value = ""; // the same file can be chosen again, after it was edited
    });
    of("options").addEventListener("change", () => {
      if (this.read()) changed();
    });
    of("form").addEventListener("submit", event => {
      event.preventDefault();
      if (this.read()) changed(true);
    });
    dropping(pick, said);
  }

  /** What is wanted: the options of a link, with `sample` null where there is a file. */
  get wanted() {
    return this.#wanted;
  }

  get file() {
    return this.#file;
  }

  /** Wants something else, such as what a link says. */
  set(wanted) {
    this.#wanted = { ...this.#wanted, ...wanted };
    if (this.#wanted.sample) this.#file = null;
    this.show();
  }

  /** Takes over the fields. Returns false, and shows why, where a field has no valid value. */
  read() {
    if (!of("k").reportValidity()) return false;
    this.#wanted = {
      ...this.#wanted,
      k: of("k").valueAsNumber, laplacian: of("laplacian").value, which: of("which").value,
      symmetrize: of("symmetrize").value, backend: of("backend").value, dropTrivial: of("drop").checked,
    };
    return true;
  }

  show() {
    const wanted = this.#wanted;
    for (const button of of("samples").children) {
      button.setAttribute("aria-pressed", String(button.dataset.sample === wanted.sample));
    }
    for (const name of ["k", "laplacian", "which", "symmetrize", "backend"]) of(name).value = wanted[name];
    of("drop").checked = wanted.dropTrivial;
    for (const id of ["symmetrize-field", "symmetrize-note"]) of(id).hidden = !this.#file; // samples are symmetric
    of("chosen").hidden = !this.#file;
    of("chosen").textContent = this.#file ? `File: ${this.#file.name}` : "";
  }

  /** Makes a button for each sample. A sample that only a link can name gets one too. */
  samples(names) {
    const { sample } = this.#wanted;
    const more = sample && !names.includes(sample) && isSample(sample, names) ? [sample] : [];
    const row = of("samples");
    const wanted = [...names, ...more];
    const there = new Map([...row.children].map(button => [button.dataset.sample, button]));
    for (const [name, button] of there) {
      if (!wanted.includes(name)) button.remove();
    }
    // Buttons stay where they are, since one that is moved loses the focus.
    wanted.forEach((name, i) => {
      const next = row.children[i];
      if (next?.dataset.sample !== name) row.insertBefore(there.get(name) ?? button(name), next ?? null);
    });
    this.show();
  }

  /** Whether the GPU can be chosen. */
  device(there) {
    of("backend").querySelector("[value=gpu]").disabled = !there;
    of("compare").textContent = there ? "Compare CPU and GPU" : "Time the CPU";
  }
}

function button(name) {
  const made = document.createElement("button");
  made.type = "button";
  made.dataset.sample = name;
  made.textContent = SAMPLES[name]?.[0] ?? name;
  if (SAMPLES[name]) made.title = SAMPLES[name][1];
  return made;
}

/** Files may be dropped anywhere on the page. */
function dropping(pick, said) {
  const shade = of("drop-here");
  let depth = 0; // dragenter of an element comes before dragleave of the one around it
  const files = event => event.dataTransfer?.types.includes("Files");
  document.addEventListener("dragenter", event => {
    if (!files(event)) return;
    event.preventDefault();
    depth++;
    shade.hidden = false;
  });
  document.addEventListener("dragover", event => {
    if (files(event)) event.preventDefault();
  });
  document.addEventListener("dragleave", event => {
    if (files(event) && --depth <= 0) hide();
  });
  const hide = () => {
    depth = 0;
    shade.hidden = true;
  };
  document.addEventListener("drop", event => {
    if (!files(event)) return; // text may be dropped into a field
    event.preventDefault();
    hide();
    const items = [...event.dataTransfer.items].filter(item => item.kind === "file");
    const whole = items.filter(item => !item.webkitGetAsEntry?.()?.isDirectory).map(item => item.getAsFile());
    if (whole.length === 0 || !whole[0]) return said(NO_FILE);
    pick(whole[0]);
    if (whole.length > 1) said(SEVERAL_FILES);
  });
}
