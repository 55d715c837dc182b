import { parseArgs } from "node:util";

/** How much is measured, and how many measurements run at once: one, where their times mean something. */
const presets = {
  full: {
    atOnce: 1,
    rounds: 15,
    roundMs: 300,
    warmUpMs: 1_000,
    keyCounts: [100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000],
    refusedKeyCounts: [10_000, 1_000_000],
    redisKeys: 10_000,
    widths: [1, 8, 64, 256, 1_024],
    policyCounts: [1, 2, 4, 8, 16],
    limits: [10, 100, 1_000, 10_000, 100_000],
    samples: 10_000,
    limitRounds: 7,
    idleKeys: 1_000_000,
    idleRuns: 3,
    importRuns: 10,
    httpRounds: 7,
    httpLoad: { duration: 3 },
    soakPeriods: 10,
    soakPeriodSeconds: 60,
  },
  quick: {
    atOnce: 1,
    rounds: 7,
    roundMs: 150,
    warmUpMs: 400,
    keyCounts: [100, 10_000, 1_000_000],
    refusedKeyCounts: [10_000, 1_000_000],
    redisKeys: 10_000,
    widths: [1, 8, 64, 256],
    policyCounts: [1, 2, 4],
    limits: [10, 1_000, 100_000],
    samples: 2_000,
    limitRounds: 1,
    idleKeys: 1_000_000,
    idleRuns: 1,
    importRuns: 10,
    httpRounds: 3,
    httpLoad: { duration: 2 },
    soakPeriods: 3,
    soakPeriodSeconds: 10,
  },
  smoke: {
    atOnce: 4,
    rounds: 1,
    roundMs: 1,
    warmUpMs: 0,
    keyCounts: [100, 200],
    refusedKeyCounts: [100],
    redisKeys: 50,
    widths: [8],
    policyCounts: [2],
    limits: [10, 100],
    samples: 5,
    limitRounds: 1,
    idleKeys: 1_000,
    idleRuns: 1,
    importRuns: 1,
    httpRounds: 1,
    httpLoad: { amount: 50, sampleInt: 20 },
    soakPeriods: 1,
    soakPeriodSeconds: 1,
  },
};

const usage = `node bench [options]        measures everything, which takes about half an hour
  --only NAME[,NAME]  measures some, and leaves the documents alone
  --again NAME[,NAME] measures some anew in the kept run; its ratios hold within a section
  --quick             shorter and fewer rounds, for a first look; leaves the documents alone
  --smoke             as little as shows that everything runs; its numbers mean nothing
  --soak MINUTES      how long the soak takes (10)
  --output FOLDER     where results and pictures go instead of bench/results and docs
  --render            writes the documents anew from the results that are there
  --list              names what can be measured`;

/** @throws Error in one line, for an option that there is not */
export function readOptions(args) {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: "string" },
      again: { type: "string" },
      quick: { type: "boolean" },
      smoke: { type: "boolean" },
      soak: { type: "string" },
      output: { type: "string" },
      render: { type: "boolean" },
      list: { type: "boolean" },
      help: { type: "boolean" },
    },
  });
  const preset = values.smoke ? "smoke" : values.quick ? "quick" : "full";
  const options = { ...presets[preset] };
  if (values.soak !== undefined) options.soakPeriods = Number(values.soak);
  return {
    preset,
    options,
    only: (values.again ?? values.only)?.split(","),
    again: values.again !== undefined,
    output: values.output,
    render: values.render === true,
    list: values.list === true,
    usage: values.help === true ? usage : undefined,
  };
}
