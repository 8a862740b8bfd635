import { describeScenarios } from '../../../fixtures/scenarios/run.ts'
import { renewalScenarios } from './renewal-scenarios.testkit.ts'
import { subscriptionScenarios } from './scenarios.testkit.ts'

describeScenarios('Subscriptions', [...subscriptionScenarios, ...renewalScenarios])
