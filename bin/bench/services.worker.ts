// Reads the catalog of `services.ts` until it is told to stop: beside the buyers, whose own work would count as waiting.
import { setTimeout as delay } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'

const PAUSE_MS = 20
/** Not counted: they load and compile what the reader itself reads with, whose process is not what is measured. */
const FIRST_READS = 20

async function readCatalog(url: string, isDone: () => boolean): Promise<number[]> {
  const took: number[] = []
  for (let price = 1; !isDone(); price += 1) {
    const started = performance.now()
    // A page that nobody asked for before, so that it is made.
    await (await fetch(`${url}/v1/services/catalog?limit=20&max_price=${price}`)).arrayBuffer()
    if (price > FIRST_READS) took.push(performance.now() - started)
    await delay(PAUSE_MS)
  }
  return took
}

let isDone = false
parentPort?.once('message', () => {
  isDone = true
})
parentPort?.postMessage(await readCatalog(String(workerData), () => isDone))
