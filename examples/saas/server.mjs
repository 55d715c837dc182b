// Serves the example, on Redis where REDIS_URL names one.
import { redisStore } from "@headgate/redis";
import { Redis } from "ioredis";
import { createApp } from "./app.mjs";

const { REDIS_URL, PORT = "3000" } = process.env;
// The store opens a connection of its own; this client itself is never connected.
const store = REDIS_URL && redisStore(new Redis(REDIS_URL, { lazyConnect: true }));
createApp(store ? { store } : {}).listen(Number(PORT), () => {
  console.log(`Serving at http://127.0.0.1:${PORT}. To try:
  curl -i -H 'x-api-key: key-ada' http://127.0.0.1:${PORT}/projects
  curl -i -H 'content-type: application/json' -d '{"account":"ada","password":"?"}' http://127.0.0.1:${PORT}/login`);
});
