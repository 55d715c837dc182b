import { enter, perSecond, rowsOf } from "../harness/contest.mjs";
import { startRedis } from "../servers/redis.mjs";
import { flexible, headgate, onRedis, pipelinedIncr, withServer } from "./redis-contest.mjs";

const contestants = [headgate, flexible, pipelinedIncr];

export const processes = {
  name: "processes",
  title: "One and two processes on one Redis",
  about:
    "The sum of what processes decide at the same time, 64 requests in flight each. Two cores tell no more: with two processes Redis shares a core.",
  unit: "decisions/s",
  better: "higher",
  growth: "processes",
  run: (options) =>
    withServer(startRedis, async (server) => {
      const cases = [];
      for (const count of [1, 2])
        cases.push({
          x: count,
          name: `${count} ${count === 1 ? "process" : "processes"}`,
          rows: await measure(count, { server, options }),
        });
      return cases;
    }),
};

async function measure(count, { server, options }) {
  const { rounds, roundMs, warmUpMs, redisKeys: keys } = options;
  const teams = [];
  try {
    for (const contestant of contestants) {
      const team = { ...contestant, members: [], values: [] };
      teams.push(team);
      const entry = onRedis(contestant, { server, width: 64, keys });
      for (let member = 0; member < count; member += 1)
        team.members.push(await enter({ ...entry, ours: true }, warmUpMs));
    }
    for (let round = 0; round < rounds; round += 1)
      for (const { members, values } of teams) {
        const measured = await Promise.all(members.map((member) => member.measure(roundMs)));
        values.push(measured.reduce((sum, one) => sum + perSecond(one), 0));
      }
    return rowsOf(teams);
  } finally {
    await Promise.all(teams.flatMap(({ members }) => members.map(({ stop }) => stop())));
  }
}
