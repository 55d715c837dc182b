import { expect, test, vi } from "vitest";
import { Holds } from "../../src/http/hold.js";

test("a limiter has one listener however often it is mounted, and closing lets all mounts' requests go on", () => {
  const closing = new AbortController();
  const listen = vi.spyOn(closing.signal, "addEventListener");
  const went: number[] = [];
  for (let mount = 0; mount < 20; mount += 1)
    new Holds(closing.signal).hold(10_000, () => went.push(mount));
  expect(listen).toHaveBeenCalledOnce();
  closing.abort();
  expect(went).toEqual(Array.from({ length: 20 }, (_, mount) => mount));
});
