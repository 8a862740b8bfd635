// Written by `npm run commands` from the command files; a test fails when it is stale.
import type { EntryRow } from '../../src/cli/run/entries.ts'

export const walletsAndRemotes: readonly EntryRow[] = [
  ['config edit', 'change the settings in your editor', () => import('../config/edit.ts')],
  ['config get', 'show one setting', () => import('../config/get.ts')],
  [
    'config list',
    'list what holds unless a flag says otherwise, and where it comes from',
    () => import('../config/list.ts'),
  ],
  ['config path', 'print the folders that are used', () => import('../config/path.ts')],
  ['config set', 'keep a setting for every command from now on', () => import('../config/set.ts')],
  ['config unset', 'go back to the default of a setting', () => import('../config/unset.ts')],
  ['mcp install', 'print the configuration that lets an agent use this souk', () => import('../mcp/install.ts')],
  [
    'mcp serve',
    'be a Model Context Protocol server on stdin and stdout, for an agent',
    () => import('../mcp/serve.ts'),
    { isDefault: true },
  ],
  ['remote add', 'add an instance by its address', () => import('../remote/add.ts')],
  [
    'remote check',
    'see whether an instance answers, is what it was, and takes the credentials kept for it',
    () => import('../remote/check.ts'),
  ],
  ['remote list', 'list the instances that are known, and where their secrets lie', () => import('../remote/list.ts')],
  [
    'remote protect',
    'have the name of an instance typed before anything is changed there',
    () => import('../remote/protect.ts'),
  ],
  ['remote remove', 'forget an instance and its credentials', () => import('../remote/remove.ts')],
  ['remote show', 'show the instance that is talked to, as it describes itself', () => import('../remote/show.ts')],
  ['remote use', 'choose the instance to talk to from now on', () => import('../remote/use.ts')],
  [
    'wallet export',
    'write the private key of a wallet to a file, for another program',
    () => import('../wallet/export.ts'),
  ],
  ['wallet fund', 'give a wallet test USDC from the faucet', () => import('../wallet/fund.ts')],
  ['wallet import', 'add a wallet by its private key, from a file or stdin', () => import('../wallet/import.ts')],
  ['wallet list', 'list the wallets of this machine', () => import('../wallet/list.ts')],
  ['wallet new', 'make a wallet, or import one by its private key', () => import('../wallet/new.ts')],
  ['wallet policy set', 'set what a wallet may sign for', () => import('../wallet/policy/set.ts')],
  [
    'wallet policy show',
    'show what a wallet may sign for',
    () => import('../wallet/policy/show.ts'),
    { isDefault: true },
  ],
  [
    'wallet policy test',
    'say whether a payment would be let through, and which rule stops it',
    () => import('../wallet/policy/test.ts'),
  ],
  ['wallet remove', 'delete the key of a wallet from this machine', () => import('../wallet/remove.ts')],
  ['wallet show', 'show one wallet; the key itself is never shown', () => import('../wallet/show.ts')],
  [
    'wallet sign',
    'sign a payment or a message with the wallet and print the signature',
    () => import('../wallet/sign.ts'),
  ],
  [
    'wallet spend',
    'show what a wallet agreed to pay, with totals of the day and of all time',
    () => import('../wallet/spend.ts'),
  ],
  ['wallet use', 'choose the wallet to act as from now on', () => import('../wallet/use.ts')],
]
