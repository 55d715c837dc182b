// Puts the charts of a report into their places. Everything that they show stands in the page's tables as well.
(() => {
  const { plotted, pointText, colourOf, dashOf } = globalThis.headgatePlot;

  /** A chart with its tools, and the point that is told of. */
  class Figure {
    #chart;
    #view;
    #at;
    #hidden = new Set();
    #drawn;
    #tools = element("div", { class: "tools" });
    #readout = element("p", { class: "readout" });
    #plot;

    constructor(chart, place) {
      this.#chart = chart;
      this.#view = chart.views[0];
      this.#at = highestPoint(this.#view);
      this.#plot = element("div", {
        class: "plot",
        role: "slider",
        tabindex: "0",
        "aria-orientation": "horizontal",
        "aria-label": `${chart.title}: go through its points with the arrow keys`,
        "aria-valuemin": "0",
      });
      this.#plot.addEventListener("keydown", (event) => this.#press(event));
      place.replaceChildren(this.#tools, this.#plot, this.#readout);
      this.lay();
      this.#watchWidth();
    }

    /** Makes the tools and the drawing anew, in the colours of the present scheme. */
    lay() {
      const choice = viewChoice(this.#chart, this.#view, (chosen) => {
        this.#view = chosen;
        this.#draw();
      });
      const isBars = this.#chart.kind === "bars";
      const onChange = () => this.#draw();
      const buttons = seriesButtons(this.#view, { hidden: this.#hidden, isBars, onChange });
      this.#tools.replaceChildren(...choice, ...buttons);
      this.#draw();
    }

    #draw() {
      this.#drawn?.destroy();
      const shown = { chart: this.#chart, view: this.#view, hidden: this.#hidden };
      this.#drawn = plotted(shown, this.#plot, (index) => {
        if (index !== null && index !== undefined) this.#tell(index);
      });
      this.#tell(this.#at);
    }

    /** Tells of a point: in the line below, and to who uses the chart as a slider. */
    #tell(index) {
      const last = this.#view.points.length - 1;
      this.#at = Math.max(0, Math.min(last, index));
      const text = pointText(this.#chart, this.#view, { at: this.#at, hidden: this.#hidden });
      this.#readout.textContent = text;
      this.#plot.setAttribute("aria-valuemax", String(last));
      this.#plot.setAttribute("aria-valuenow", String(this.#at));
      this.#plot.setAttribute("aria-valuetext", text);
    }

    #press(event) {
      const target = pointFor(event.key, this.#at, this.#view.points.length);
      if (target === undefined) return;
      event.preventDefault();
      this.#tell(target);
      const x = this.#chart.kind === "bars" ? this.#at : this.#view.points[this.#at];
      this.#drawn.setCursor({ left: this.#drawn.valToPos(x, "x"), top: 10 });
    }

    #watchWidth() {
      let width = this.#plot.clientWidth;
      new ResizeObserver(() => {
        if (this.#plot.clientWidth === width) return;
        width = this.#plot.clientWidth;
        this.#draw();
      }).observe(this.#plot);
    }
  }

  /** The point that a key leads to from one of `count`, as in any slider; undefined for other keys. */
  function pointFor(key, at, count) {
    const far = Math.max(1, Math.round(count / 10));
    const targets = new Map([
      ["ArrowRight", at + 1],
      ["ArrowUp", at + 1],
      ["ArrowLeft", at - 1],
      ["ArrowDown", at - 1],
      ["PageUp", at + far],
      ["PageDown", at - far],
      ["Home", 0],
      ["End", count - 1],
    ]);
    return targets.get(key);
  }

  /** The choice between the views of a chart, where it has several. */
  function viewChoice(chart, view, onChoice) {
    if (chart.views.length < 2) return [];
    const select = element("select", { "aria-label": `${chart.title}: what to show` });
    for (const { label } of chart.views) select.append(new Option(label, label));
    select.value = view.label;
    select.addEventListener("change", () => {
      onChoice(chart.views.find(({ label }) => label === select.value));
    });
    return [select];
  }

  /** A button for each series, which takes it off the chart and puts it back; the legend of the chart. */
  function seriesButtons(view, { hidden, isBars, onChange }) {
    if (view.series.length < 2) return [];
    return view.series.map(({ label }, index) => {
      const button = element("button", {
        type: "button",
        "aria-pressed": String(!hidden.has(index)),
      });
      button.append(swatch(index, isBars), label);
      button.addEventListener("click", () => {
        if (!hidden.delete(index)) hidden.add(index);
        button.setAttribute("aria-pressed", String(!hidden.has(index)));
        onChange();
      });
      return button;
    });
  }

  function swatch(index, isBars) {
    const namespace = "http://www.w3.org/2000/svg";
    const svg = document.createElementNS(namespace, "svg");
    const line = document.createElementNS(namespace, "line");
    set(svg, { width: "28", height: "8", "aria-hidden": "true" });
    set(line, {
      x1: "0",
      y1: "4",
      x2: "28",
      y2: "4",
      stroke: colourOf(index),
      "stroke-width": isBars ? "8" : "3",
      "stroke-dasharray": isBars ? "" : dashOf(index).join(" "),
    });
    svg.append(line);
    return svg;
  }

  /** Where to begin: the point at which the first series is highest. */
  function highestPoint({ series: [{ values }] }) {
    return values.indexOf(Math.max(...values.map((value) => value ?? 0)));
  }

  function element(name, attributes) {
    const made = document.createElement(name);
    set(made, attributes);
    return made;
  }

  function set(target, attributes) {
    for (const [name, value] of Object.entries(attributes)) target.setAttribute(name, value);
  }

  const charts = JSON.parse(document.getElementById("charts").textContent);
  const figures = charts.map((chart) => {
    const place = document.querySelector(`[data-chart="${chart.id}"]`);
    const figure = new Figure(chart, place);
    place.nextElementSibling.open = false;
    return figure;
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    for (const figure of figures) figure.lay();
  });
})();
