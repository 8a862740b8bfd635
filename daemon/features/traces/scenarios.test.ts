import { describeScenarios } from '../../../fixtures/scenarios/run.ts'
import { traceScenarios } from './scenarios.testkit.ts'

describeScenarios('Traces', traceScenarios)
