#!/usr/bin/env node
const OLDEST_MAJOR = 22
const OLDEST_MINOR = 13

// This file must parse and run on Node 20, and every start pays for it: no import stands above the check of the
// version, and modules of Node are taken as they lie, since importing one evaluates all its lazy members.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major > OLDEST_MAJOR || (major === OLDEST_MAJOR && minor >= OLDEST_MINOR)) {
  const { XDG_CACHE_HOME, HOME = process.getBuiltinModule('node:os').homedir() } = process.env
  const cache = XDG_CACHE_HOME ? `${XDG_CACHE_HOME}/souk` : `${HOME}/.cache/souk`
  process.getBuiltinModule('node:module').enableCompileCache(`${cache}/compile`)
  const [word, ...more] = process.argv.slice(2)
  if (more.length === 0 && (word === '--version' || word === '-V')) {
    // Asked more often than anything else, by other programs: no command line is loaded for it.
    const { default: manifest } = await import('../package.json', { with: { type: 'json' } })
    process.stdout.write(`${manifest.version}\n`)
  } else {
    const { start } = await import('../commands/start.ts')
    process.exitCode = await start(import.meta.filename, () => import('../daemon/index.ts'))
  }
} else {
  const { startOnPackagedNode } = await import('../src/cli/run/old-node.ts')
  startOnPackagedNode(import.meta.url)
}
