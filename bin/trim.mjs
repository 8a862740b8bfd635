// Deletes of the installed packages what nothing here reads, about a fifth of them: `npm ci` runs it.
// In plain JavaScript: it runs before it is sure that a Node is there that takes more.
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const packages = fileURLToPath(new URL('../node_modules', import.meta.url))
/** By the names that such files have in every package. */
const SOURCE_MAP = /\.(?:[cm]?js|[cm]?ts|css)\.map$/
/** Packages that are a Node bring headers for those who compile add-ons to it. */
const IS_NODE = /^node-(?:linux|win)-\w+$/

for (const name of readdirSync(packages).filter((each) => IS_NODE.test(each)))
  rmSync(join(packages, name, 'include'), { recursive: true, force: true })

for (const path of readdirSync(packages, { recursive: true, encoding: 'utf8' }))
  if (SOURCE_MAP.test(path)) rmSync(join(packages, path), { force: true })
