import {
  type ApplyMode,
  type AsyncStore,
  type Charge,
  memoryStore,
  type Outcome,
} from "@headgate/core";
import { failsafe } from "@headgate/core/failsafe";

/** A store elsewhere that fails or hangs when told to, and else counts in memory. */
export class FailingStore implements AsyncStore {
  readonly kind = "async";
  readonly atomicity = "request";
  readonly failsafe = failsafe;
  state: "up" | "down" | "hanging" = "down";
  calls = 0;
  readonly #memory = memoryStore();

  async apply(
    batch: readonly Charge[],
    mode: ApplyMode,
    wantNext?: boolean,
  ): Promise<readonly Outcome[]> {
    this.calls += 1;
    if (this.state === "hanging") return new Promise(() => {});
    if (this.state === "down") throw new Error("connection lost");
    return this.#memory.apply(batch, mode, wantNext);
  }

  readonly bans: AsyncStore["bans"] = {
    strike: async () => {},
    set: async () => {},
    list: async () => [],
  };

  async refund(): Promise<void> {}
  async reset(): Promise<void> {}
  async close(): Promise<void> {}
}
