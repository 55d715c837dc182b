import { show } from "./errors.js";
import { warnOnce } from "./warnings.js";

/** Calls a listener of the application's: neither what it throws nor a promise that it leaves may harm a request. */
export function tell(option: string, listen: () => unknown): void {
  const warnOfListener = (thrown: unknown): void => {
    const what = thrown instanceof Error ? thrown.message : show(thrown);
    warnOnce("HEADGATE_LISTENER", `${option} threw: ${what}`);
  };
  try {
    const left = listen();
    if (typeof left === "object" && left !== null) Promise.resolve(left).catch(warnOfListener);
  } catch (thrown) {
    warnOfListener(thrown);
  }
}
