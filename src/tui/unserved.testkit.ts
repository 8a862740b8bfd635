import { HOUR_MS } from '../core/time.ts'
import { type DialogStage, shownDialog } from './dialog-stage.testkit.ts'
import { mend } from './overview/mend.ts'
import { fetchNeeds } from './shell/needs.ts'

/** A subscriber whose seller was suspended for a while. */
export async function unserved(stage: DialogStage) {
  const [seller, subscriber] = [await stage.somebody(), await stage.somebody()]
  const sold = ['name=Maps', 'description=Drawn', 'price=0.50', 'fulfillment_type=human']
  const sets = sold.flatMap((one) => ['--set', one])
  const { id: service } = await stage.json('services', 'create', ...sets, '--as', seller.name)
  const plan = ['--name', 'Maps', '--price', '0.90', '--service', service, '--as', seller.name]
  const { id } = await stage.json('plans', 'create', ...plan)
  await stage.json('plans', 'subscribe', id, '--as', subscriber.name, '--yes')
  await stage.json('admin', 'participants', 'suspend', seller.id, '--reason', 'so it is', '--yes')
  // What is made good is paid from what the house earned.
  const bought = ['buy', 'qr_code', '-i', 'data=hello', '--as', subscriber.name, '--yes']
  for (let i = 0; i < 2; i += 1) await stage.json(...bought)
  stage.escrow.pass(9 * HOUR_MS)
  await stage.json('crons', 'run', 'splitter-distribute')
  const host = await stage.host()
  const found = await fetchNeeds(host.link)(AbortSignal.timeout(5_000))
  const waiting = found.ok ? found.value.items : []
  const one = waiting.find(({ kind, fix }) => kind === 'unserved_period' && fix.includes(subscriber.id))
  if (one === undefined) throw new Error('no unserved period')
  await mend(host, one)
  const says = async () => {
    const { items } = await stage.ask('/dashboard/api/admin/attention')
    return items.some(({ fix }: { fix: string }) => fix.includes(subscriber.id))
  }
  return { spec: shownDialog(host), says }
}
