import { fileURLToPath } from 'node:url'

/** Path of a file or folder that comes with the program; sources and bundle lie at different depths below it. */
export function shipped(path: string): string {
  const fixtures = import.meta.url.endsWith('.ts') ? '../../fixtures/' : '../fixtures/'
  return fileURLToPath(new URL(`${fixtures}${path}`, import.meta.url))
}
