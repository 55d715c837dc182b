// Draws the charts of a report. Everything that it shows stands in the page's tables as well.
(() => {
  const dashes = [[], [9, 4], [2, 3], [12, 4, 2, 4], [5, 5], [1, 4, 6, 4]];
  const colourCount = 6;
  const highest = 300;
  const numbers = new Intl.NumberFormat("en", { maximumFractionDigits: 3 });
  const data = document.getElementById("charts")?.textContent ?? "[]";

  for (const chart of JSON.parse(data)) {
    const place = document.querySelector(`[data-chart="${chart.id}"]`);
    if (place === null) continue;
    show(chart, place);
    const tables = place.nextElementSibling;
    if (tables instanceof HTMLDetailsElement) tables.open = false;
  }

  /** Puts a chart and what goes with it into its place. */
  function show(chart, place) {
    const hidden = new Set();
    const tools = element("div", { class: "tools" });
    const plot = element("div", {
      class: "plot",
      role: "slider",
      tabindex: "0",
      "aria-orientation": "horizontal",
      "aria-label": `${chart.title}: go through its points with the arrow keys`,
      "aria-valuemin": "0",
    });
    const readout = element("p", { class: "readout" });
    let view = chart.views[0];
    let at = 0;
    let drawn;

    const point = (index) => {
      at = Math.max(0, Math.min(view.points.length - 1, index));
      const text = pointText(chart, view, { at, hidden });
      readout.textContent = text;
      plot.setAttribute("aria-valuenow", String(at));
      plot.setAttribute("aria-valuetext", text);
    };
    const draw = () => {
      drawn?.destroy();
      plot.setAttribute("aria-valuemax", String(view.points.length - 1));
      drawn = plotted({ chart, view, hidden }, plot, (index) => {
        if (index !== null && index !== undefined) point(index);
      });
      point(at);
    };
    const move = (index) => {
      point(index);
      const x = chart.kind === "bars" ? at : view.points[at];
      drawn.setCursor({ left: drawn.valToPos(x, "x"), top: 10 });
    };
    plot.addEventListener("keydown", (event) => {
      const far = Math.max(1, Math.round(view.points.length / 10));
      const last = view.points.length - 1;
      const targets = {
        ArrowRight: at + 1,
        ArrowUp: at + 1,
        ArrowLeft: at - 1,
        ArrowDown: at - 1,
        PageUp: at + far,
        PageDown: at - far,
        Home: 0,
        End: last,
      };
      if (!Object.hasOwn(targets, event.key)) return;
      event.preventDefault();
      move(targets[event.key]);
    });
    const lay = () => {
      tools.replaceChildren(
        ...viewChoice(chart, view, (chosen) => {
          view = chosen;
          at = Math.min(at, view.points.length - 1);
          draw();
        }),
        ...seriesButtons(view, { hidden, isBars: chart.kind === "bars", onChange: draw }),
      );
    };
    lay();
    place.replaceChildren(tools, plot, readout);
    at = highestPoint(view);
    draw();
    let width = plot.clientWidth;
    new ResizeObserver(() => {
      if (plot.clientWidth === width) return;
      width = plot.clientWidth;
      draw();
    }).observe(plot);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      lay();
      draw();
    });
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
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
    const size = { width: "28", height: "8", "aria-hidden": "true" };
    for (const [name, value] of Object.entries(size)) svg.setAttribute(name, value);
    const stroke = {
      x1: "0",
      y1: "4",
      x2: "28",
      y2: "4",
      stroke: colour(`series-${(index % colourCount) + 1}`),
      "stroke-width": isBars ? "8" : "3",
      "stroke-dasharray": isBars ? "" : dashes[index % dashes.length].join(" "),
    };
    for (const [name, value] of Object.entries(stroke)) line.setAttribute(name, value);
    svg.append(line);
    return svg;
  }

  function plotted({ chart, view, hidden }, plot, onPoint) {
    const isBars = chart.kind === "bars";
    const count = view.points.length;
    const width = plot.clientWidth;
    const axis = {
      stroke: colour("soft"),
      grid: { stroke: colour("line"), width: 1 },
      ticks: { stroke: colour("line"), width: 1 },
      font: "12px system-ui, sans-serif",
      labelFont: "12px system-ui, sans-serif",
      labelSize: 20,
    };
    const options = {
      width,
      height: Math.max(240, Math.min(highest, Math.round(width * 0.6))),
      legend: { show: false },
      cursor: { drag: { x: false, y: false }, points: { size: 9 }, y: false },
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1e3), "Etc/UTC"),
      scales: {
        x: isBars
          ? { time: false, range: () => [-0.6, count - 0.4] }
          : chart.kind === "curve"
            ? {
                time: false,
                distr: 3,
                range: () => [view.points[0] / 1.1, view.points[count - 1] * 1.1],
              }
            : {},
        y: { range: (_, __, most) => [0, most > 0 ? most * 1.08 : 1] },
      },
      axes: [
        { ...axis, ...xAxis(chart, view, width) },
        { ...axis, size: 56, values: (_, ticks) => ticks.map((tick) => valueText(view, tick)) },
      ],
      series: [{}, ...view.series.map((_, index) => lineOf(chart, { view, hidden, index }))],
      hooks: { setCursor: [(self) => onPoint(self.cursor.idx)] },
    };
    const points = isBars ? view.points.map((_, index) => index) : view.points;
    return new uPlot(options, [points, ...view.series.map(({ values }) => values)], plot);
  }

  function xAxis(chart, view, width) {
    if (chart.kind === "time") return { space: 64, values: timeLabels };
    if (chart.kind === "curve")
      return {
        label: chart.pointName,
        splits: (_, __, least, most) => roundLimits(least, most),
        filter: (_, ticks) => ticks,
        values: limitLabels(width),
      };
    const longest = Math.max(...view.points.flatMap((name) => name.split("-").map(lengthOf)));
    const hasNames = view.points.some((name) => name.includes("-"));
    // Names are few, and all of them are needed; of ranges, some can be left out.
    const every = hasNames
      ? 1
      : Math.ceil((view.points.length * (longest * 7 + 12)) / (width - 90));
    return {
      label: chart.pointName,
      grid: { show: false },
      splits: () => view.points.map((_, index) => index),
      values: (_, ticks) =>
        ticks.map((tick) => (tick % every === 0 ? view.points[tick].replaceAll("-", "\n") : null)),
      space: 0,
      size: 24 + 15 * Math.max(...view.points.map((name) => name.split("-").length)),
    };
  }

  function lengthOf({ length }) {
    return length;
  }

  /** Days where the ticks are days apart, else hours and minutes, with the day where it begins. */
  function timeLabels(_, ticks, __, ___, stepSeconds) {
    return ticks.map((tick, index) => {
      const at = new Date(tick * 1e3).toISOString();
      const day = at.slice(0, 10);
      if (stepSeconds >= 86_400) return day.slice(5);
      const clock = stepSeconds < 60 ? at.slice(11, 19) : at.slice(11, 16);
      return index === 0 || clock.startsWith("00:00") ? `${clock}\n${day.slice(5)}` : clock;
    });
  }

  /** 1, 2 and 5 and their tenfolds, within a range. */
  function roundLimits(least, most) {
    const limits = [];
    for (let unit = 1; unit <= most; unit *= 10)
      for (const limit of [unit, 2 * unit, 5 * unit])
        if (limit >= least && limit <= most) limits.push(limit);
    return limits;
  }

  /** As many labels as there is room for: all, or only those of the tens. */
  function limitLabels(width) {
    return (_, ticks) =>
      ticks.map((tick) =>
        ticks.length * 60 > width && !/^10*$/.test(String(tick)) ? null : numbers.format(tick),
      );
  }

  function lineOf(chart, { view, hidden, index }) {
    const stroke = colour(`series-${(index % colourCount) + 1}`);
    const line = {
      show: !hidden.has(index),
      stroke,
      width: 2,
      dash: dashes[index % dashes.length],
    };
    const fill = view.series.length === 1 ? `${stroke}38` : undefined;
    if (chart.kind === "time")
      return { ...line, fill, paths: uPlot.paths.stepped({ align: 1 }), points: { show: false } };
    if (chart.kind === "curve") return { ...line, spanGaps: true, points: { show: true, size: 6 } };
    const paired = view.series.length > 1;
    return {
      ...line,
      dash: [],
      width: 1,
      fill: stroke,
      points: { show: false },
      paths: uPlot.paths.bars({
        size: [paired ? 0.36 : 0.7, 80],
        align: paired ? (index === 0 ? -1 : 1) : 0,
      }),
    };
  }

  /** Where to begin: the point at which the first series is highest. */
  function highestPoint({ series: [{ values }] }) {
    return values.indexOf(Math.max(...values.map((value) => value ?? 0)));
  }

  function pointText(chart, view, { at, hidden }) {
    const point = view.points[at];
    const name =
      chart.kind === "time"
        ? `${new Date(point * 1e3).toISOString().slice(0, 16).replace("T", " ")} UTC`
        : `${chart.pointName} ${typeof point === "number" ? numbers.format(point) : point}`;
    const values = view.series
      .map(({ label, values }, index) => ({ label, value: values[at], index }))
      .filter(({ value, index }) => value !== null && !hidden.has(index))
      .map(({ label, value }) => `${label} ${valueText(view, value)}`);
    return `${name}: ${values.join(", ") || "nothing is shown"}`;
  }

  function valueText({ unit }, value) {
    return unit === "percent" ? `${numbers.format(value)} %` : numbers.format(value);
  }

  function colour(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  }

  function element(name, attributes) {
    const made = document.createElement(name);
    for (const [attribute, value] of Object.entries(attributes))
      made.setAttribute(attribute, value);
    return made;
  }
})();
