import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { endpointTable } from '../src/api/table.ts'

/** Writes the generated part of the README; a test fails when it is stale. */
const path = fileURLToPath(new URL('../README.md', import.meta.url))
const [start, end] = ['<!-- endpoints:start -->', '<!-- endpoints:end -->']
const text = readFileSync(path, 'utf8')
const head = text.slice(0, text.indexOf(start) + start.length)
writeFileSync(path, `${head}\n${endpointTable()}\n${text.slice(text.indexOf(end))}`)
