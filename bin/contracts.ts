import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { compiledContracts } from './solidity.ts'

/** Writes the compiled contracts; a test fails when they are stale. */
for (const [file, text] of await compiledContracts()) {
  writeFileSync(fileURLToPath(new URL(`../${file}`, import.meta.url)), text)
}
