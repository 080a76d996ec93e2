import FoundationEssentials

/// A page that turns a mesh in any browser, all in one file: it asks the network for nothing.
struct ModelPage {
    let mesh: ReliefMesh
    let portrait: Picture

    var bytes: [UInt8] {
        let page = Self.template
            .replacing("@MIDDLE@", with: "\((mesh.vertices.map(\.z).max() ?? 0) * 0.45)")
            .replacing("@COUNT@", with: "\(mesh.vertices.count)")
            .replacing("@WIDE@", with: mesh.isLarge ? "Uint32Array" : "Uint16Array")
            .replacing("@VERTICES@", with: Self.base64(mesh.packedVertices))
            .replacing("@TRIANGLES@", with: Self.base64(mesh.packedTriangles))
            .replacing("@PORTRAIT@", with: Self.base64(PNGFile.bytes(of: portrait)))
        return Array(page.utf8)
    }

    private static func base64(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString()
    }

    /// WebGL 2. A vertex has 16 bytes, as `packedVertices` says.
    private static let template = """
        <!DOCTYPE html>
        <html lang="en">
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width">
        <title>A selfie in three dimensions</title>
        <style>
          html, body { margin: 0; height: 100%; background: radial-gradient(circle at 50% 45%, #39405a, #15171f); }
          canvas { display: block; width: 100vw; height: 100vh; cursor: grab; touch-action: none; }
          p { position: fixed; left: 0; right: 0; bottom: 12px; margin: 0; text-align: center;
              font: 14px system-ui, sans-serif; color: #aab2c8; pointer-events: none; }
        </style>
        <canvas></canvas>
        <p>@COUNT@ vertices. Drag to turn it, scroll to come nearer.</p>
        <script>
        const bytes = text => Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
        const vertices = bytes("@VERTICES@");
        const triangles = new @WIDE@(bytes("@TRIANGLES@").buffer);
        const canvas = document.querySelector("canvas");
        const gl = canvas.getContext("webgl2", { antialias: true, alpha: true });
        if (!gl) {
          document.querySelector("p").textContent = "This browser has no WebGL 2, which turning the model needs.";
          throw new Error("no WebGL 2");
        }
        const program = gl.createProgram();
        for (const [kind, source] of [[gl.VERTEX_SHADER, `#version 300 es
          in vec3 place; in vec3 normal; in vec2 spot;
          uniform mat3 turn; uniform vec2 scale; uniform float middle;
          out vec3 facing; out vec2 at;
          void main() {
            vec3 p = turn * (place * 2.0 - vec3(0, 0, middle));
            facing = turn * normal;
            at = spot;
            float near = 1.0 / (1.0 - p.z * 0.18);
            gl_Position = vec4(p.xy * scale * near, -p.z * 0.3, 1.0);
          }`], [gl.FRAGMENT_SHADER, `#version 300 es
          precision highp float;
          in vec3 facing; in vec2 at; uniform sampler2D portrait; out vec4 colour;
          void main() {
            vec3 n = normalize(gl_FrontFacing ? facing : -facing);
            float key = max(0.0, dot(n, vec3(-0.45, 0.45, 0.77)));
            float rim = pow(1.0 - max(0.0, n.z), 3.0) * 0.18;
            vec3 base = gl_FrontFacing ? texture(portrait, at).rgb : vec3(0.16, 0.17, 0.21);
            colour = vec4(base * (0.55 + 0.60 * key) + rim * vec3(0.6, 0.7, 1.0), 1.0);
          }`]]) {
          const shader = gl.createShader(kind);
          gl.shaderSource(shader, source);
          gl.compileShader(shader);
          if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
          gl.attachShader(program, shader);
        }
        ["place", "normal", "spot"].forEach((name, index) => gl.bindAttribLocation(program, index, name));
        gl.linkProgram(program);
        gl.useProgram(program);
        gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
        gl.bufferData(gl.ARRAY_BUFFER, vertices, gl.STATIC_DRAW);
        gl.vertexAttribPointer(0, 3, gl.SHORT, true, 16, 0);
        gl.vertexAttribPointer(1, 3, gl.BYTE, true, 16, 6);
        gl.vertexAttribPointer(2, 2, gl.UNSIGNED_SHORT, true, 16, 10);
        for (const index of [0, 1, 2]) gl.enableVertexAttribArray(index);
        gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
        gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, triangles, gl.STATIC_DRAW);
        gl.enable(gl.DEPTH_TEST);
        const uniform = name => gl.getUniformLocation(program, name);
        const [turnAt, scaleAt] = [uniform("turn"), uniform("scale")];
        gl.uniform1f(uniform("middle"), @MIDDLE@);

        const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
        let yaw = -0.42, pitch = 0.08, zoom = 1.05, held = false, phase = Math.asin(-0.42 / 0.7), last = 0;
        canvas.onpointerdown = event => { held = true; canvas.setPointerCapture(event.pointerId); };
        canvas.onpointerup = canvas.onpointercancel = () => {
          held = false;
          phase = Math.asin(Math.max(-1, Math.min(1, yaw / 0.7)));
        };
        canvas.onpointermove = event => {
          if (!held) return;
          yaw = Math.max(-1.3, Math.min(1.3, yaw + event.movementX * 0.008));
          pitch = Math.max(-0.8, Math.min(0.8, pitch + event.movementY * 0.008));
        };
        canvas.onwheel = event => {
          event.preventDefault();
          zoom = Math.max(0.4, Math.min(4, zoom * Math.exp(-event.deltaY * 0.001)));
        };
        function draw(now) {
          const step = Math.min(50, now - last) / 1000;
          last = now;
          if (!held && !still) {
            phase += step * 0.8;
            yaw += (0.7 * Math.sin(phase) - yaw) * Math.min(1, step * 4);
          }
          const ratio = devicePixelRatio || 1;
          const [width, height] = [Math.round(innerWidth * ratio), Math.round(innerHeight * ratio)];
          if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
          gl.viewport(0, 0, width, height);
          gl.clearColor(0, 0, 0, 0);
          gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
          const [s, c, t, d] = [Math.sin(yaw), Math.cos(yaw), Math.sin(pitch), Math.cos(pitch)];
          gl.uniformMatrix3fv(turnAt, false, [c, s * t, -s * d, 0, d, t, s, -c * t, c * d]);
          gl.uniform2f(scaleAt, zoom * Math.min(1, height / width), zoom * Math.min(1, width / height));
          gl.drawElements(gl.TRIANGLES, triangles.length, triangles.BYTES_PER_ELEMENT === 4 ? gl.UNSIGNED_INT
            : gl.UNSIGNED_SHORT, 0);
          requestAnimationFrame(draw);
        }
        const image = new Image();
        image.onload = () => {
          gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
          gl.pixelStorei(gl.UNPACK_FLIP_Y_WEBGL, true);
          gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, gl.RGBA, gl.UNSIGNED_BYTE, image);
          gl.generateMipmap(gl.TEXTURE_2D);
          requestAnimationFrame(draw);
        };
        image.src = "data:image/png;base64,@PORTRAIT@";
        </script>

        """
}

extension ReliefMesh {
    /// More vertices than sixteen bits can number.
    var isLarge: Bool { vertices.count > 65_536 }

    /// Little-endian, 16 bytes each: half the coordinates as three signed 16-bit fractions, the normal as three signed
    /// 8-bit ones and a byte of nothing, u and v as unsigned 16-bit ones, and two bytes of nothing.
    var packedVertices: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(vertices.count * 16)
        func append(_ value: Float, scale: Float, bytes count: Int) {
            let number = Int((max(-1, min(1, value)) * scale).rounded())
            for byte in 0..<count { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * byte))) }
        }
        for vertex in vertices {
            for part in [vertex.x, vertex.y, vertex.z] { append(part / 2, scale: 32_767, bytes: 2) }
            for part in [vertex.normal.x, vertex.normal.y, vertex.normal.z] { append(part, scale: 127, bytes: 1) }
            bytes.append(0)
            for part in [vertex.u, vertex.v] { append(part, scale: 65_535, bytes: 2) }
            bytes += [0, 0]
        }
        return bytes
    }

    /// Little-endian numbers of vertices, of four bytes where two do not suffice.
    var packedTriangles: [UInt8] {
        let count = isLarge ? 4 : 2
        return triangles.flatMap { number in
            (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * UInt32($0))) }
        }
    }
}
