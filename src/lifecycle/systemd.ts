import { join } from 'node:path'
import type { CommandContext } from '../cli/command.ts'
import { DEFAULT_INSTANCE } from '../client/settings.ts'
import { type Launch, launchWords } from './launch.ts'
import { STOP_MS } from './run.ts'

/** How many seconds longer systemd waits than an orderly stop can take. */
const STOP_MARGIN_S = 5

type Context = Pick<CommandContext<unknown, unknown>, 'places' | 'system'>
export type Unit = { readonly unit: string; readonly name: string }

/** The systemd user unit that runs this instance, and the unit's name. */
export function unitOf({ places, system }: Context, launch: Launch): Unit {
  const { instance, chosenData } = places
  const words = [
    ...system.self,
    'up',
    '--foreground',
    ...launchWords(launch),
    `--instance=${instance}`,
    `--config=${places.config}`,
    ...(chosenData === undefined ? [] : [`--data=${chosenData}`]),
  ]
  const secret = [
    ...(launch.store === undefined ? [] : ['SOUK_STORE=postgres://…']),
    ...(launch.notify.length === 0 ? [] : ['SOUK_NOTIFY=smtp://…']),
    ...(launch.signer === undefined ? [] : ['SOUK_SIGNER=exec:…']),
  ]
  const lines = [
    '[Unit]',
    `Description=souk, a marketplace for agent services (${instance})`,
    '',
    '[Service]',
    'Type=exec',
    ...(secret.length === 0
      ? []
      : [`# ${secret.join(', ')}, mode 600`, `EnvironmentFile=${join(places.config, 'store.env')}`]),
    `ExecStart=${words.map(quoted).join(' ')}`,
    'Restart=on-failure',
    'RestartSec=2',
    `TimeoutStopSec=${STOP_MS / 1_000 + STOP_MARGIN_S}`,
    'UMask=0077',
    'NoNewPrivileges=yes',
    '',
    '[Install]',
    'WantedBy=default.target',
  ]
  const name = instance === DEFAULT_INSTANCE ? 'souk.service' : `souk-${instance}.service`
  return { unit: `${lines.join('\n')}\n`, name }
}

/** A word for the command line in a unit: quoted, with `%` and `$` escaped. */
function quoted(word: string): string {
  const escaped = word.replaceAll('%', '%%').replaceAll('$', () => '$$')
  return /^[\w./:@=,%+-]+$/.test(escaped) ? escaped : `"${escaped.replace(/[\\"]/g, '\\$&')}"`
}
