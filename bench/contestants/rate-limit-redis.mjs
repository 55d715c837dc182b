import { RedisStore } from "rate-limit-redis";
import { connect } from "./connection.mjs";

/** The store alone. Several policies are several stores, asked one after the other as their middlewares would. */
export async function increment({ limit, windowMs, policies: count = 1, ports }) {
  const client = await connect({ ports });
  const sending =
    ports.length === 1
      ? { sendCommand: (...command) => client.call(...command) }
      : { sendCommandCluster: ({ command }) => sendInCluster(client, command) };
  const stores = [];
  for (let index = 0; index < count; index += 1) {
    const store = new RedisStore({ ...sending, prefix: `rl-${index}:` });
    await store.init({ windowMs });
    stores.push(store);
  }
  const [only] = stores;
  return {
    ask: count === 1 ? (key) => only.increment(key) : (key) => oneAfterTheOther(stores, key),
    admits: ({ totalHits }) => totalHits <= limit,
    close: () => client.disconnect(),
  };
}

async function oneAfterTheOther(stores, key) {
  let last;
  for (const store of stores) last = await store.increment(key);
  return last;
}

/** Scripts are loaded into every node, so that none asks for them again. */
async function sendInCluster(client, command) {
  if (command[0] !== "SCRIPT") return client.call(...command);
  const replies = await Promise.all(client.nodes("master").map((node) => node.call(...command)));
  return replies[0];
}
