import { type AsyncStore, type Charge, memoryStore, type Outcome } from "@headgate/core";

/** A store elsewhere that fails or hangs when told to, and else counts in memory. */
export class FailingStore implements AsyncStore {
  readonly kind = "async";
  readonly atomicity = "request";
  state: "up" | "down" | "hanging" = "down";
  calls = 0;
  readonly #memory = memoryStore();

  async apply(
    batch: readonly Charge[],
    mode: "commit" | "peek",
    wantNext?: boolean,
  ): Promise<readonly Outcome[]> {
    this.calls += 1;
    if (this.state === "hanging") return new Promise(() => {});
    if (this.state === "down") throw new Error("connection lost");
    return this.#memory.apply(batch, mode, wantNext);
  }

  async refund(): Promise<void> {}
  async reset(): Promise<void> {}
  async close(): Promise<void> {}
}
