import type { Policy } from "@headgate/core";
import { usageError } from "../errors.js";
import { openInputs } from "../reading/input.js";
import { collect, inputResult } from "../replay/collect.js";
import { algorithmPlans, limitPlans, limitsAround, type Plan, planOf } from "../replay/plan.js";
import { readLogs } from "../replay/read-logs.js";
import { Replay } from "../replay/replay.js";
import type { PolicyResult, ReplayResult } from "../replay/result.js";
import { replayPage } from "../report/replay-page.js";
import { Progress } from "../terminal/progress.js";
import { replayText } from "../terminal/replay-text.js";
import {
  clientNames,
  durationOrNone,
  endingRule,
  fieldMap,
  parsed,
  positiveInteger,
  readingHelp,
  readingOptions,
} from "./options.js";
import { writePage } from "./pages.js";
import { measured } from "./performance.js";
import { policiesOf } from "./policies-file.js";
import type { Terminal } from "./terminal.js";

export const replayHelp: string = `headgate replay LOG … --policies POLICIES.json

Decides the requests of access logs by each policy of a file, at the instants that the logs tell,
and says how many requests and clients each would have refused, when, and on which routes.

  --policies FILE      the policies, as for createLimiter; each is tried by itself
  --policy NAME        try this one of them alone (again for more)
  --sweep 10,20,50     try each policy under these limits too
  --algorithms         try the numbers of each policy under the other algorithms too
  --failed FIELD=VALUE what tells failed requests, such as ok=false or status=401,403,5xx
                       (default: a status from 400)
  --show-clients       call clients by their address or name instead of a hash
  --salt TEXT          hash with this, so that hashes are the same in each run
${readingHelp}`;

/** `headgate replay`: the exit code. */
export async function replay(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parsed(args, {
    policies: { type: "string" },
    policy: { type: "string", multiple: true },
    sweep: { type: "string" },
    algorithms: { type: "boolean" },
    failed: { type: "string" },
    "show-clients": { type: "boolean" },
    salt: { type: "string" },
    ...readingOptions,
  });
  if (values.help) {
    terminal.stdout.write(replayHelp);
    return 0;
  }
  if (positionals.length === 0) throw usageError("replay: name a log, or - for standard input");
  if (values.policies === undefined) throw usageError("replay: --policies FILE is missing");
  const policies = chosen(await policiesOf(values.policies), values.policy);
  const plans = plansFor(policies, {
    sweep: values.sweep === undefined ? undefined : limits(values.sweep),
    algorithms: values.algorithms === true,
    page: values.html !== undefined,
  });
  const inputs = await openInputs(positionals, terminal.stdin);
  const fields = fieldMap(values.field);
  const run = new Replay(plans, {
    fields,
    endingOf: endingRule(values.failed),
    tellEndings: values.failed !== undefined,
    maxKeys: positiveInteger("max-keys", values["max-keys"] ?? "1000000"),
  });
  const { made: readers, performanceOf } = await measured(() =>
    readLogs(inputs, run, {
      progress: new Progress(terminal.stderr, inputs, "replay"),
      reorderMs: durationOrNone("reorder", values.reorder ?? "1m"),
      timeField: fields.get("time"),
    }),
  );
  const input = inputResult(readers, run);
  // A page's comparisons are many, and for the page alone.
  const isAsked = ({ variant }: PolicyResult): boolean =>
    variant === undefined ||
    (variant.differs === "limit" ? values.sweep !== undefined : values.algorithms === true);
  const result: ReplayResult = {
    input,
    ...collect(run, clientNames(values["show-clients"], values.salt)),
    performance: performanceOf(input.lines),
  };
  if (values.html !== undefined) await writePage(values.html, replayPage(result));
  const asked = { ...result, policies: result.policies.filter(isAsked) };
  const text = values.json ? `${JSON.stringify(result, undefined, 2)}\n` : replayText(asked);
  terminal.stdout.write(text);
  return input.damaged.length > 0 ? 1 : 0;
}

function chosen(
  policies: readonly Policy[],
  names: readonly string[] | undefined,
): readonly Policy[] {
  if (names === undefined) return policies;
  const known = policies.map(({ name }) => name);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw usageError(`--policy ${unknown}: the file has ${known.join(", ")}`);
  return policies.filter(({ name }) => names.includes(name));
}

/** The policies and what they are compared with. A page shows comparisons, also when none was asked for. */
function plansFor(
  policies: readonly Policy[],
  {
    sweep,
    algorithms,
    page,
  }: {
    readonly sweep: readonly number[] | undefined;
    readonly algorithms: boolean;
    readonly page: boolean;
  },
): readonly Plan[] {
  const none: readonly number[] = [];
  return policies.flatMap((policy) => [
    planOf(policy),
    ...limitPlans(policy, sweep ?? (page ? limitsAround(policy) : none)),
    ...(algorithms || page ? algorithmPlans(policy) : []),
  ]);
}

function limits(text: string): readonly number[] {
  return text.split(",").map((limit) => positiveInteger("sweep", limit.trim()));
}
