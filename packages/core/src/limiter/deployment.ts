/** What this module needs of Node's `process`, where there is one. */
interface ProcessLike {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly connected?: boolean;
  getBuiltinModule?(name: string): { readonly isWorker?: boolean } | undefined;
}

const serverlessVariables = [
  "AWS_LAMBDA_FUNCTION_NAME",
  "VERCEL",
  "NETLIFY",
  "K_SERVICE",
  "FUNCTIONS_WORKER_RUNTIME",
];

/**
 * Why a store in this process would count only a part of the traffic, or undefined when nothing says so:
 * a cluster worker, a process under PM2, a serverless platform.
 */
export function whyNotAlone(
  process: ProcessLike | undefined = (globalThis as { process?: ProcessLike }).process,
): string | undefined {
  if (process === undefined) return undefined;
  const { env = {} } = process;
  if (env.pm_id !== undefined) return "this process runs under PM2";
  const platform = serverlessVariables.find((name) => env[name] !== undefined);
  if (platform !== undefined) return `this is a serverless platform (${platform} is set)`;
  // Only a forked process has a channel: the others are spared the loading of the module.
  if (process.connected === true && process.getBuiltinModule?.("node:cluster")?.isWorker === true) {
    return "this process is a cluster worker";
  }
  return undefined;
}
