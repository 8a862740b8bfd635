import type { Host, Screen, View } from '../shell/screen.ts'
import { type LogPart, logPart } from '../shell/ui.ts'
import { useSent } from './deliveries.ts'
import { useRecords } from './records.ts'
import { useAsked } from './requests.ts'
import { useRuns } from './runs.ts'

const parts: Readonly<Record<LogPart, Screen['use']>> = {
  requests: useAsked,
  webhooks: useSent,
  crons: useRuns,
  everything: useRecords,
}

/** A hook: what happened, as the view in sight lists it; each part has hooks of its own, and is drawn anew. */
export function useLogs(host: Host, view: View): ReturnType<Screen['use']> {
  const useShown = parts[logPart(view.ui.logs.view)]
  return useShown(host, view)
}
