import { describeScenarios } from '../../fixtures/scenarios/run.ts'
import { threadScenarios } from '../../fixtures/scenarios/threads.ts'

describeScenarios('Threads', threadScenarios)
