import { once } from "node:events";

/** Listens on a port, or on the next free one after it. */
export async function listen(app, port) {
  const server = app.listen(port);
  try {
    await once(server, "listening");
    return server;
  } catch (error) {
    if (error.code !== "EADDRINUSE") throw error;
    return listen(app, port + 1);
  }
}
