import type { Group } from '../src/cli/command.ts'

/** Nouns that hold several commands. */
export const groups: readonly Group[] = [
  { name: 'services', heading: 'Market', summary: 'browse and buy services' },
  { name: 'jobs', heading: 'Market', summary: 'follow what was bought' },
  { name: 'endpoints', heading: 'Health and interface', summary: 'rows of the interface and their status' },
  { name: 'wallet', heading: 'Wallets and remotes', summary: 'keys to pay and sign with' },
  { name: 'remote', heading: 'Wallets and remotes', summary: 'instances other than the local daemon' },
]
