// How the charts of a report are drawn by uPlot, and told in words.
(() => {
  const dashes = [[], [9, 4], [2, 3], [12, 4, 2, 4], [5, 5], [1, 4, 6, 4]];
  const colourCount = 6;
  const [lowest, highest] = [240, 300];
  const numbers = new Intl.NumberFormat("en", { maximumFractionDigits: 3 });

  globalThis.headgatePlot = { plotted, pointText, colourOf, dashOf };

  /** Draws a view of a chart, and tells which point the pointer is nearest to. */
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
      height: Math.max(lowest, Math.min(highest, Math.round(width * 0.6))),
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
        size: 36,
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
    const stroke = colourOf(index);
    const line = {
      show: !hidden.has(index),
      stroke,
      width: 2,
      dash: dashOf(index),
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

  function colourOf(index) {
    return colour(`series-${(index % colourCount) + 1}`);
  }

  function dashOf(index) {
    return dashes[index % dashes.length];
  }
})();
