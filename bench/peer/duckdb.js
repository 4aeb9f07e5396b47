// DuckDB as one of the peers: node duckdb.js PACKAGES MEMORY SETUP ...
// Runs the SETUP statements, then one statement a line of standard input (as
// a JSON string); answers one line of JSON as bench-serve does. One thread.
const readline = require("readline");
const path = require("path");

async function main() {
  const [, , packages, memory, ...setup] = process.argv;
  const duckdb = require(path.join(packages, "node_modules/@duckdb/node-api"));
  const instance = await duckdb.DuckDBInstance.create(":memory:");
  const db = await instance.connect();
  await db.run("SET threads = 1");
  await db.run(`SET memory_limit = '${memory}'`);
  await db.run(`SET temp_directory = '${packages}/spilled'`);
  for (const statement of setup) await db.run(statement);
  console.log("ready " + duckdb.version());
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const cpu = process.cpuUsage();
    const wall = process.hrtime.bigint();
    let out = {};
    try {
      const result = await db.runAndReadAll(JSON.parse(line));
      out.answer = String(result.getRows()[0][0]);
    } catch (e) {
      out.error = String(e.message).split("\n")[0];
    }
    const used = process.cpuUsage(cpu);
    out.cpu = (used.user + used.system) / 1e3;
    out.wall = Number(process.hrtime.bigint() - wall) / 1e6;
    console.log(JSON.stringify(out));
  }
}
main();
