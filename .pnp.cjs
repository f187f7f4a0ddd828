// Keeps esbuild from using a Plug'n'Play manifest of Yarn in a parent folder, in which it would find no packages. esbuild
// uses only the nearest file with this name, and no manifest if the file contains none. The project does not use Yarn.
module.exports = {};
