import type { AlgorithmName, KeyBy } from "@headgate/core";
import { usageError } from "../errors.js";
import { type LogInput, openInputs } from "../reading/input.js";
import { spool } from "../reading/spool.js";
import { algorithms } from "../replay/plan.js";
import { suggestPage } from "../report/suggest-page.js";
import { suggestLimits } from "../suggest/suggest.js";
import type { Question, SuggestResult } from "../suggest/suggestion.js";
import { Progress } from "../terminal/progress.js";
import { suggestText } from "../terminal/suggest-text.js";
import {
  duration,
  durationOrNone,
  fieldMap,
  parsed,
  positiveInteger,
  readingHelp,
  readingOptions,
} from "./options.js";
import { writePage } from "./pages.js";
import { measured } from "./performance.js";
import type { Terminal } from "./terminal.js";

export const suggestHelp: string = `headgate suggest LOG … --key ip --window 1m --refuse 0.1%

Finds the smallest limit that would have refused at most a share of the clients or requests of
access logs, and shows what other limits would have refused. The logs are read several times.

  --key PARTS          whom to count: ip, user, ip,account, or global (default ip)
  --window 1m          the window of the limit (default 1m)
  --refuse 0.1%        the share that may be refused (default 0.1%)
  --of WHAT            of what: clients (at least one refusal) or requests (default clients)
  --algorithm NAME     fixed-window (default), sliding-window, sliding-window-counter,
                       token-bucket, leaky-bucket, or all of them
${readingHelp}`;

/** `headgate suggest`: the exit code. */
export async function suggest(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parsed(args, {
    key: { type: "string" },
    window: { type: "string" },
    refuse: { type: "string" },
    of: { type: "string" },
    algorithm: { type: "string" },
    ...readingOptions,
  });
  if (values.help) {
    terminal.stdout.write(suggestHelp);
    return 0;
  }
  if (positionals.length === 0) throw usageError("suggest: name a log, or - for standard input");
  const question: Question = {
    by: keyOf(values.key ?? "ip"),
    windowMs: duration("window", values.window ?? "1m"),
    share: shareOf(values.refuse ?? "0.1%"),
    of: whatOf(values.of ?? "clients"),
    algorithms: algorithmsOf(values.algorithm ?? "fixed-window"),
  };
  const fields = fieldMap(values.field);
  const { inputs, remove } = await rereadable(positionals, terminal);
  try {
    const { made: found, performanceOf } = await measured(() =>
      suggestLimits(question, {
        inputs,
        fields,
        maxKeys: positiveInteger("max-keys", values["max-keys"] ?? "1000000"),
        reorderMs: durationOrNone("reorder", values.reorder ?? "1m"),
        timeField: fields.get("time"),
        progressOf: (pass) => new Progress(terminal.stderr, inputs, `suggest, reading ${pass}`),
      }),
    );
    const { linesRead, ...results } = found;
    const result: SuggestResult = {
      question,
      ...results,
      performance: performanceOf(linesRead),
    };
    if (values.html !== undefined) await writePage(values.html, suggestPage(result));
    const text = values.json ? `${JSON.stringify(result, undefined, 2)}\n` : suggestText(result);
    terminal.stdout.write(text);
    return found.input.damaged.length > 0 ? 1 : 0;
  } finally {
    await remove();
  }
}

/** The logs, with the standard input kept in a file. */
async function rereadable(
  names: readonly string[],
  { stdin }: Terminal,
): Promise<{ readonly inputs: readonly LogInput[]; readonly remove: () => Promise<void> }> {
  const inputs = await openInputs(names, stdin);
  if (!names.includes("-")) return { inputs, remove: async () => {} };
  const { input, remove } = await spool(stdin, "standard input");
  return { inputs: inputs.map((one, index) => (names[index] === "-" ? input : one)), remove };
}

function keyOf(text: string): KeyBy {
  const parts = text.split(",").map((part) => part.trim());
  const [only = ""] = parts;
  return parts.length === 1 ? only : parts;
}

/** `0.1%` or `0.001`. */
function shareOf(text: string): number {
  const isPercent = text.endsWith("%");
  const number = Number(isPercent ? text.slice(0, -1) : text);
  const share = isPercent ? number / 100 : number;
  if (/^[\d.]+%?$/.test(text) && share >= 0 && share < 1) return share;
  throw usageError(
    `--refuse must be a share such as "0.1%" or "0.001", got ${JSON.stringify(text)}`,
  );
}

function whatOf(text: string): Question["of"] {
  if (text === "clients" || text === "requests") return text;
  throw usageError(`--of must be clients or requests, got ${JSON.stringify(text)}`);
}

function algorithmsOf(text: string): readonly AlgorithmName[] {
  if (text === "all") return algorithms;
  const named = algorithms.filter((algorithm) => algorithm === text);
  if (named.length > 0) return named;
  throw usageError(
    `--algorithm must be all or one of ${algorithms.join(", ")}, got ${JSON.stringify(text)}`,
  );
}
