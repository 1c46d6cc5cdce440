import hooks, { AsyncLocalStorage } from 'node:async_hooks';

/*
 * node:test finds the test around a call of `test` or `after`, or around an error, with a hook on every
 * promise. That is an eighth of the time of all tests. This module uses an AsyncLocalStorage instead, which
 * costs nothing. node:test reads these hooks when it is loaded, so this module loads first.
 */
const { AsyncResource, createHook, executionAsyncId } = hooks;
const within = new AsyncLocalStorage<number>();
let callbacks: hooks.HookCallbacks = {};

/**
 * The base class of node:test's tests. It announces each test and runs its callbacks within it, however late.
 */
class Announced extends AsyncResource {
  constructor(...parameters: ConstructorParameters<typeof AsyncResource>) {
    super(...parameters);
    callbacks.init?.(this.asyncId(), parameters[0], within.getStore() ?? this.triggerAsyncId(), this);
  }

  override runInAsyncScope<This, Result>(
    work: (this: This, ...parameters: unknown[]) => Result,
    self?: This,
    ...parameters: unknown[]
  ): Result {
    return super.runInAsyncScope(() =>
      within.run(this.asyncId(), () => work.apply(self as This, parameters)),
    );
  }
}

Object.assign(hooks, {
  AsyncResource: Announced,
  createHook(given: hooks.HookCallbacks) {
    callbacks = given;
    return { enable() {}, disable() {} };
  },
  executionAsyncId: () => within.getStore() ?? executionAsyncId(),
});
process.getBuiltinModule('node:test');
Object.assign(hooks, { AsyncResource, createHook, executionAsyncId });
