import type { PolicyResult, ReplayResult } from "../replay/result.js";
import type { Suggestion, SuggestResult } from "../suggest/suggestion.js";
import { durationWords, perWords, wholeNumber } from "../words/durations.js";

/** What a chart's points stand at: instants in seconds, limits, or names. */
type ChartKind = "time" | "curve" | "bars";

/** One line or row of bars: a value for each point, null where it has none. */
interface Series {
  readonly label: string;
  readonly values: readonly (number | null)[];
}

/** One way to look at a chart. */
export interface View {
  readonly label: string;
  readonly unit: "count" | "percent";
  readonly points: readonly (number | string)[];
  readonly series: readonly Series[];
}

/** A chart, and the table that says the same. */
export interface Chart {
  readonly id: string;
  readonly kind: ChartKind;
  readonly title: string;
  readonly description: string;
  readonly pointName: string;
  readonly valueName: string;
  readonly views: readonly View[];
}

/** The charts of a replay, each where there is something to see. */
export function replayCharts(result: ReplayResult): readonly Chart[] {
  return [
    refusalsOverTime(result),
    limitCurve(curvesOf(result.policies)),
    ...result.keys.map(requestsPerClient),
    underEachAlgorithm(result.policies),
  ].filter(({ views }) => views.length > 0);
}

/** The charts of a suggestion. */
export function suggestCharts({ suggestions, key, question }: SuggestResult): readonly Chart[] {
  const curves = suggestions.map(({ policy, curve }) => ({
    label: policy.algorithm,
    points: curve.slice(0, 1 + curve.findIndex(({ requests }) => requests.count === 0)),
  }));
  return [
    limitCurve(curves),
    requestsPerClient(key),
    smallestLimits(suggestions, perWords(question.windowMs)),
  ].filter(({ views }) => views.length > 0);
}

function refusalsOverTime({ policies, spans }: ReplayResult): Chart {
  const startSeconds = Date.parse(spans.startAt) / 1_000;
  const shown = policies.filter(({ variant }) => variant === undefined);
  const width = durationWords(spans.widthMs);
  const view: View = {
    label: "refused requests",
    unit: "count",
    points: spans.requests.map((_, span) => startSeconds + (span * spans.widthMs) / 1_000),
    series: shown.map(({ label, refusedBySpan }) => ({ label, values: refusedBySpan })),
  };
  return {
    id: "time",
    kind: "time",
    title: "Refusals over time",
    description: `Requests that each policy refuses in every ${width.replace(/^1 /, "")}, in UTC.`,
    pointName: "from",
    valueName: "refused requests",
    views: [view],
  };
}

/** A line of the curve: what a limit refuses of all requests and of all clients. */
interface Curve {
  readonly label: string;
  readonly points: readonly Pick<Suggestion, "limit" | "requests" | "clients">[];
}

function curvesOf(policies: readonly PolicyResult[]): readonly Curve[] {
  return policies
    .filter(({ variant }) => variant === undefined)
    .map(({ label }) => ({
      label,
      points: policies
        .filter(({ label: own, variant }) =>
          variant === undefined
            ? own === label
            : variant.of === label && variant.differs === "limit",
        )
        .map(({ policy, requests, clients }) => ({ limit: policy.limit, requests, clients }))
        .sort((a, b) => a.limit - b.limit),
    }))
    .filter(({ points }) => points.length > 1);
}

function limitCurve(curves: readonly Curve[]): Chart {
  const limits = curves.flatMap(({ points }) => points.map(({ limit }) => limit));
  const points = [...new Set(limits)].sort((a, b) => a - b);
  const viewOf = (what: "clients" | "requests"): View => ({
    label: `share of ${what}`,
    unit: "percent",
    points,
    series: curves.map(({ label, points: known }) => ({
      label,
      values: points.map((limit) => {
        const found = known.find((point) => point.limit === limit);
        return found === undefined ? null : percentOf(found[what]);
      }),
    })),
  });
  return {
    id: "curve",
    kind: "curve",
    title: "What other limits would refuse",
    description:
      "The share that is refused at least once (clients) or each time (requests), by the limit.",
    pointName: "limit",
    valueName: "refused",
    views: curves.length === 0 ? [] : [viewOf("clients"), viewOf("requests")],
  };
}

function requestsPerClient({ by, distribution }: SuggestResult["key"], index: number = 0): Chart {
  const points = distribution.map(({ from, to }) =>
    from === to ? wholeNumber(from) : `${wholeNumber(from)}–${wholeNumber(to)}`,
  );
  const viewOf = (what: "clients" | "requests"): View => ({
    label: what,
    unit: "count",
    points,
    series: [{ label: what, values: distribution.map((step) => step[what]) }],
  });
  return {
    id: `clients-${index}`,
    kind: "bars",
    title: "Requests per client",
    description: `How many clients (by ${by}) made how many requests in the whole log, and how many requests they made together.`,
    pointName: "requests of one client",
    valueName: "clients",
    views: [viewOf("clients"), viewOf("requests")],
  };
}

function underEachAlgorithm(policies: readonly PolicyResult[]): Chart {
  const views = policies
    .filter(({ variant }) => variant === undefined)
    .map(({ label }): View => {
      const same = policies.filter(
        ({ label: own, variant }) =>
          own === label || (variant?.of === label && variant.differs === "algorithm"),
      );
      return {
        label,
        unit: "percent",
        points: same.map(({ policy }) => policy.algorithm),
        series: [
          { label: "of requests", values: same.map(({ requests }) => percentOf(requests)) },
          { label: "of clients", values: same.map(({ clients }) => percentOf(clients)) },
        ],
      };
    });
  return {
    id: "algorithms",
    kind: "bars",
    title: "The same traffic under each algorithm",
    description: "What the numbers of a policy refuse under its own algorithm and the others.",
    pointName: "algorithm",
    valueName: "refused",
    views: views.filter(({ points }) => points.length > 1),
  };
}

function smallestLimits(suggestions: readonly Suggestion[], window: string): Chart {
  const view: View = {
    label: "limit",
    unit: "count",
    points: suggestions.map(({ policy }) => policy.algorithm),
    series: [{ label: `limit per ${window}`, values: suggestions.map(({ limit }) => limit) }],
  };
  return {
    id: "algorithms",
    kind: "bars",
    title: "The same traffic under each algorithm",
    description: "The smallest limit that refuses little enough.",
    pointName: "algorithm",
    valueName: "limit",
    views: suggestions.length > 1 ? [view] : [],
  };
}

function percentOf({ count, of }: { readonly count: number; readonly of: number }): number {
  return of === 0 ? 0 : Number(((100 * count) / of).toPrecision(4));
}
