import { type Decision, HeadgateError, type Identity, type Policy } from "@headgate/core";
import { checkMounted, countsByRoute, countsEndings, inheritedNames } from "@headgate/core/http";
import { type NextFetchEvent, type NextRequest, NextResponse } from "next/server.js";
import { Gate, type MountOptions, unknownRoute } from "./gate.js";
import { type RefusalHeaders, refusalOf, withFields } from "./response.js";
import { type ProxyRule, RuleBook } from "./rules.js";

export interface RateLimitProxyOptions<N extends string>
  extends Omit<MountOptions<NextRequest, N>, "cost"> {
  /**
   * What is limited. All rules that match a request apply, as one decision, and with them what the proxy
   * inherits; where no rule matches, that alone.
   */
  readonly rules: readonly ProxyRule<NoInfer<N>>[];
  /** Headers of every refusal, such as those of CORS, which a route's own code cannot add here. */
  readonly refusalHeaders?: RefusalHeaders<NextRequest>;
}

/** What the limits say to one request. */
export interface LimitCheck {
  /** Undefined when no policy took part. */
  readonly decision: Decision | undefined;
  /** The answer to a refused request; undefined when it may go on. */
  readonly refusal: Response | undefined;
  /**
   * Puts the fields on the response of an admitted request: `NextResponse.next()`, a rewrite, a redirect,
   * or any other. Returns that response, or a copy where its headers cannot be changed.
   */
  applyTo(response: Response): Response;
}

/** The `proxy` of `proxy.ts`, or the `middleware` of `middleware.ts`. */
export interface RateLimitProxy {
  (request: NextRequest, event?: NextFetchEvent): Promise<Response>;
  /**
   * Decides a request inside a proxy function of the application's own. It resolves when the request may go
   * on: under a leaky bucket it holds the request.
   *
   * @param identity - identity parts that the caller knows, such as the user that it has authenticated
   */
  check(request: NextRequest, identity?: Identity): Promise<LimitCheck>;
}

const caller = "rateLimitProxy";

/**
 * Makes a proxy function that limits requests before Next routes them.
 *
 * ```ts
 * export const proxy = rateLimitProxy({ limiter, ip: { trustedProxies: 1 }, rules: [
 *   { path: "/api/login", methods: ["POST"], policies: ["login"] },
 *   { path: "/api/:path*", policies: ["perIp"] },
 * ] });
 * ```
 *
 * A refused Server Action gets its message as `text/plain`, which is what Next shows, and so does a
 * browser that asks for a page.
 *
 * @throws HeadgateError `INVALID_OPTION` or `UNKNOWN_POLICY` naming the rule and the value
 */
export function rateLimitProxy<const N extends string>(
  options: RateLimitProxyOptions<N>,
): RateLimitProxy {
  const { rules, refusalHeaders, ...mount } = options;
  if ((mount as { readonly cost?: unknown }).cost !== undefined)
    throw new HeadgateError("INVALID_OPTION", `${caller}: cost is an option of each rule`);
  const book = new RuleBook(rules);
  for (const { policies, cost } of rules) checkRule(mount, policies, cost);
  checkInherited(mount);
  const known = new WeakMap<NextRequest, Identity>();
  const identify = async (request: NextRequest): Promise<Identity> => ({
    ...(await mount.identify?.(request)),
    ...(await book.identityOf(request)),
    ...known.get(request),
  });
  const gate = new Gate(caller, (request) => book.policiesOf(request), {
    ...mount,
    identify,
    routeOf: (request) =>
      book.routeOf(request, (name) => countsByRoute(mount.limiter.policies[name])) ??
      unknownRoute(caller)(),
    cost: (request) => book.costOf(request),
  });
  const ownBody = typeof mount.body === "function";
  const check = async (request: NextRequest, identity?: Identity): Promise<LimitCheck> => {
    if (identity !== undefined) known.set(request, identity);
    const plan = await gate.admit(request);
    const { decision } = plan;
    if (plan.action === "continue")
      return { decision, refusal: undefined, applyTo: (response) => withFields(response, plan) };
    const text = ownBody ? undefined : textFor(request);
    const refusal = refusalOf(plan, request, { text, refusalHeaders });
    return { decision, refusal, applyTo: () => refusal };
  };
  const proxy = async (request: NextRequest): Promise<Response> => {
    const { refusal, applyTo } = await check(request);
    return refusal ?? applyTo(NextResponse.next());
  };
  return Object.assign(proxy, { check });
}

type SharedOptions<N extends string> = Omit<MountOptions<NextRequest, N>, "cost">;

/** Makes a mount of one rule, for the errors that it throws. */
function checkRule<N extends string>(
  mount: SharedOptions<N>,
  policies: readonly N[],
  cost: ProxyRule<N>["cost"],
): void {
  new Gate(caller, policies, { ...mount, ...(cost !== undefined && { cost }) });
  checkMounted(mount.limiter, policies, checkEndings);
}

function checkInherited<N extends string>(mount: SharedOptions<N>): void {
  const { limiter, inherit = [], override = {}, route } = mount;
  const names = inheritedNames<N>(inherit, override);
  checkMounted(limiter, names, checkEndings);
  if (route === undefined) checkMounted(limiter, names, checkRoutes);
}

function checkEndings(policies: readonly Policy[]): void {
  const policy = policies.find(countsEndings);
  if (policy === undefined) return;
  const rule = "counts by how requests go, which a proxy never sees: use withRateLimit";
  throw new HeadgateError("INVALID_OPTION", `${caller}: policy "${policy.name}" ${rule}`);
}

function checkRoutes(policies: readonly Policy[]): void {
  const policy = policies.find(countsByRoute);
  if (policy === undefined) return;
  const rule = 'counts by "route": give the option route, or name it in rules instead';
  throw new HeadgateError("INVALID_OPTION", `${caller}: inherited policy "${policy.name}" ${rule}`);
}

/** The media type in which a person reads the message; undefined for a program, which reads JSON. */
function textFor({ headers }: NextRequest): string | undefined {
  // Next shows a failed action's body only under this very media type, without a charset.
  if (headers.has("next-action")) return "text/plain";
  return headers.get("accept")?.includes("text/html") ? "text/plain; charset=utf-8" : undefined;
}
