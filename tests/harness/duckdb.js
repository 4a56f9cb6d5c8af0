#!/usr/bin/env node
// DuckDB as its command line has it, as far as tests type that: duckdb -csv -c SQL.
"use strict";
const { DuckDBInstance } = require("@duckdb/node-api");

async function main(words) {
    const instance = await DuckDBInstance.create(":memory:");
    const connection = await instance.connect();
    const answer = await connection.runAndReadAll(words[words.indexOf("-c") + 1]);
    const rows = [answer.columnNames(), ...answer.getRowsJson()];
    process.stdout.write(rows.map((row) => row.join(",") + "\n").join(""));
}

main(process.argv.slice(2));
