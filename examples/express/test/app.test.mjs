import { ManualClock } from "@headgate/core/testing";
import request from "supertest";
import { beforeEach, expect, test } from "vitest";
import { createApp } from "../app.mjs";

let app;
let clock;

beforeEach(() => {
  clock = new ManualClock(1_700_000_000_000);
  app = createApp({ clock });
});

const statuses = (responses) => responses.map(({ status }) => status);

async function times(count, send) {
  const responses = [];
  for (let n = 0; n < count; n += 1) responses.push(await send());
  return responses;
}

const get = (key) => request(app).get("/items").set("x-api-key", key);

test("the free tier may burst 5 reads, and the next passes after exactly Retry-After", async () => {
  const responses = await times(6, () => get("key-ada"));
  expect(statuses(responses)).toEqual([200, 200, 200, 200, 200, 429]);
  clock.advance(Number(responses[5].headers["retry-after"]) * 1000);
  expect((await get("key-ada")).status).toBe(200);
});

test("the pro tier has an allowance of its own", async () => {
  await times(6, () => get("key-ada"));
  const response = await get("key-grace");
  expect(response.status).toBe(200);
  expect(response.headers["x-ratelimit-limit"]).toBe("50");
});

test("writes cost what they write", async () => {
  const post = (count) => request(app).post(`/items?count=${count}`).set("x-api-key", "key-ada");
  const responses = [await post(3), await post(3), await post(2), await post("rubbish")];
  expect(statuses(responses)).toEqual([201, 429, 201, 429]);
  expect(responses[0].body).toEqual({ left: 2 });
});

test("logins are limited by address and account together", async () => {
  const login = (name) => request(app).post("/login").send({ login: name });
  expect(statuses(await times(6, () => login("ada")))).toEqual([200, 200, 200, 200, 200, 429]);
  expect((await login("grace")).status).toBe(200);
});

test("jobs leave at their rate, and the queue refuses when it is full", async () => {
  const responses = await Promise.all(
    Array.from({ length: 5 }, () => request(app).post("/jobs").set("x-api-key", "key-ada")),
  );
  expect(statuses(responses).sort()).toEqual([202, 202, 202, 202, 429]);
});

test("the perimeter counts requests that fail authentication", async () => {
  const [first, second] = await times(2, () => get("a guess"));
  expect(first.status).toBe(401);
  expect(second.headers["x-ratelimit-remaining"]).toBe("298");
});
