'use strict';

// Node loads this script before any TypeScript. If Node is too old or packages are missing, the script prints
// instructions instead of a syntax or import error. The script must therefore run on old versions of Node.

var fs = require('fs');
var path = require('path');

var manifest = JSON.parse(fs.readFileSync(path.join(__dirname, '..', 'package.json'), 'utf8'));
/** Minimum major version of Node. Lambda runs this version, and `npm ci` installs it. */
var neededNode = parseInt(manifest.devDependencies.node, 10);

var node = process.versions.node;
if (parseInt(node, 10) < neededNode)
  fail(
    'Node ' + neededNode + ' or newer is required, but this is Node ' + node + ' (' + process.execPath + ')',
  );

var absent = Object.keys(Object.assign({}, manifest.dependencies, manifest.devDependencies)).filter(isAbsent);
if (absent.length > 0) fail('Packages are not installed (' + absent.slice(0, 3).join(', ') + ' …)');

// The compile cache shortens the startup by a third. If the cache cannot be written, Node compiles the code each time.
require('module').enableCompileCache(path.join(__dirname, '..', 'node_modules', '.cache', 'compiled'));

// Operators edit infra/stages.ts. For a mistake such as a missing comma, Node would print a stack trace.
process.on('uncaughtExceptionMonitor', function (error) {
  var line = /infra[/\\]stages\.ts:(\d+)/.exec(error && error.stack);
  if (!line) return;
  console.error('infra/stages.ts, line ' + line[1] + ': ' + error.message + '.');
  process.exit(1);
});

function isAbsent(name) {
  return !fs.existsSync(path.join(__dirname, '..', 'node_modules', name));
}

function fail(reason) {
  var command = process.env.npm_config_ignore_scripts === 'true' ? 'npm ci --ignore-scripts=false' : 'npm ci';
  console.error(reason + '. Run ' + command + ' and run the npm script again.');
  process.exit(1);
}
