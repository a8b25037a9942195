// Reads formulas of Power Query with Microsoft's parser: node read_formulas.js FILE …
import { readFileSync } from "node:fs";
import PQP from "@microsoft/powerquery-parser";

for (const file of process.argv.slice(2)) {
  const task = await PQP.TaskUtils.tryLexParse(PQP.DefaultSettings, readFileSync(file, "utf8"));
  if (PQP.TaskUtils.isError(task)) {
    console.error(`${file}: ${task.error.message}`);
    process.exitCode = 1;
  }
}
