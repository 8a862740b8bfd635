#!/usr/bin/env node
import module from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const OLDEST_MAJOR = 22
const OLDEST_MINOR = 13

// This file must parse and run on Node 20: everything newer comes by import(), behind the check of the version.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major > OLDEST_MAJOR || (major === OLDEST_MAJOR && minor >= OLDEST_MINOR)) await start()
else (await import('../src/cli/old-node.ts')).startOnPackagedNode(fileURLToPath(import.meta.url))

async function start(): Promise<void> {
  module.enableCompileCache(join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'souk', 'compile'))
  const [{ main }, { realSystem }, { entries }, { groups }] = await Promise.all([
    import('../src/cli/main.ts'),
    import('../src/cli/env.ts'),
    import('../commands/index.ts'),
    import('../commands/groups.ts'),
  ])
  process.exitCode = await main(realSystem(fileURLToPath(import.meta.url)), { entries, groups })
}
