import { connect } from "node:net";
import { fixedWindow, slidingWindow, tokenBucket } from "@headgate/core";
import { describe, expect, test } from "vitest";
import { frameworks, listen, timed } from "./servers.js";

/** Sends one text in one write, and gives what comes back until the server closes. */
async function exchange(port: number, text: string): Promise<string> {
  const socket = connect(port, "127.0.0.1").setNoDelay(true);
  let received = "";
  socket.on("data", (chunk) => {
    received += chunk.toString();
  });
  socket.write(text);
  await new Promise((resolve) => socket.once("close", resolve));
  return received;
}

const policies = {
  "fixed window": fixedWindow({ limit: 5, window: "1m" }),
  "sliding window": slidingWindow({ limit: 5, window: "1m" }),
  "token bucket": tokenBucket({ limit: 5, window: "1m" }),
};

describe.each(frameworks)("%s", (_, framework) => {
  test.each(Object.entries(policies))(
    "ten requests in one packet at limit 5 under a %s: five pass with remaining 4 to 0, five are refused",
    async (_name, policy) => {
      const app = framework().use(timed(policy).limit);
      app.get("/", (_request, response) => void response.json("passed"));
      const { port } = await listen(app);
      const get = "GET / HTTP/1.1\r\nHost: localhost\r\n";
      const received = await exchange(
        port,
        `${`${get}\r\n`.repeat(9)}${get}Connection: close\r\n\r\n`,
      );
      const heads = received.split("HTTP/1.1 ").slice(1);
      const seen = heads.map((head) => {
        const remaining = /x-ratelimit-remaining: (\d+)/i.exec(head)?.[1];
        return `${head.slice(0, 3)} ${remaining}`;
      });
      expect(seen).toEqual([
        ...["200 4", "200 3", "200 2", "200 1", "200 0"],
        ...["429 0", "429 0", "429 0", "429 0", "429 0"],
      ]);
    },
  );
});
