// An Express application behind the middleware of one contestant. The first message starts it, and the
// answer tells its port.
import { once } from "node:events";
import express from "express";
import { answer } from "./process-of.mjs";

answer(async ({ module, make, settings }) => {
  const contestants = await import(`../contestants/${module}.mjs`);
  const { ask } = await contestants[make](settings);
  const application = express();
  application.use(ask);
  application.get("/", (_request, response) => {
    response.end("ok");
  });
  const server = application.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { port: server.address().port };
});
