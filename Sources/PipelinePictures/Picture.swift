import CAssets

/// A picture in SVG with its numbers as a table, for those who can't see it.
package struct Picture: Sendable {
    /// The subject of the picture, one sentence.
    package let title: String
    package let columns: [String]
    package let rows: [[String]]
    private let height: Double
    private let content: Markup

    static let width = 720.0

    init(title: String, height: Double, columns: [String], rows: [[String]], content: Markup) {
        self.title = title
        self.columns = columns
        self.rows = rows
        self.height = height
        self.content = content
    }

    /// The `svg` element of a page; its classes have their looks from the page's stylesheet.
    package var svg: Markup {
        """
        <svg class="picture" viewBox="0 0 720 \(height)" xmlns="http://www.w3.org/2000/svg" role="img" \
        aria-label="\(title)">\(content)</svg>
        """
    }

    /// Pictures as a file of its own, one below the other, each under its title, with their looks in it.
    package static func file(_ pictures: [Picture]) -> String {
        var all = Markup.empty
        var top = 0.0
        for picture in pictures {
            all += """
                <text class="title" x="12" y="\(top + 26)">\(picture.title)</text>\
                <g transform="translate(0 \(top + 36))">\(picture.content)</g>
                """
            top += picture.height + 52
        }
        let whole: Markup = """
            <svg class="picture" viewBox="0 0 720 \(top)" width="720" height="\(top)" \
            xmlns="http://www.w3.org/2000/svg" role="img"><style>\(Markup(asset: pipeline_asset_picture_css()))</style>\
            <rect class="paper" width="720" height="\(top)"/>\(all)</svg>

            """
        return whole.string
    }
}
